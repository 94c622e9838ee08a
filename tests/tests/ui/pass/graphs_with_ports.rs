// Graphs with ports in a module, in a function and in the expansion of a macro, with names that the expansion also has.
#![deny(warnings, missing_docs)]
//! A program.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Invert, Show};

mod parts {
    //! Graphs of another module.
    use super::*;

    type Bytes = Tensor<u8>;

    graph! {
        /// Converts.
        pub(crate) struct Part(options: u64, path: Vec<String>, value: Option<u8>, name: (), made: [u8; 2]) {
            /// Bytes.
            input r#type: &Bytes;
            /// Floats.
            output failed: Tensor<f32>;
            let inside: Cast = {
                let _ = (options, &path, value, name, made, platform);
                Cast::new()
            };
            r#type >> inside.src;
            inside.dst >> failed;
        }
    }
}

graph! {
    /// Many nodes.
    pub struct Long {
        input image: Tensor<f32>;
        output image_out: Tensor<f32>;
        let n0: Invert = Invert::new();
        let n1: Invert = Invert::new();
        let n2: Invert = Invert::new();
        let n3: Invert = Invert::new();
        let n4: Invert = Invert::new();
        let n5: Invert = Invert::new();
        let n6: Invert = Invert::new();
        let n7: Invert = Invert::new();
        let n8: Invert = Invert::new();
        let n9: Invert = Invert::new();
        let n10: Invert = Invert::new();
        let n11: Invert = Invert::new();
        let n12: Invert = Invert::new();
        let n13: Invert = Invert::new();
        let n14: Invert = Invert::new();
        let n15: Invert = Invert::new();
        let n16: Invert = Invert::new();
        let n17: Invert = Invert::new();
        let n18: Invert = Invert::new();
        let n19: Invert = Invert::new();
        image >> n0.src;
        n0.dst >> n1.src;
        n1.dst >> n2.src;
        n2.dst >> n3.src;
        n3.dst >> n4.src;
        n4.dst >> n5.src;
        n5.dst >> n6.src;
        n6.dst >> n7.src;
        n7.dst >> n8.src;
        n8.dst >> n9.src;
        n9.dst >> n10.src;
        n10.dst >> n11.src;
        n11.dst >> n12.src;
        n12.dst >> n13.src;
        n13.dst >> n14.src;
        n14.dst >> n15.src;
        n15.dst >> n16.src;
        n16.dst >> n17.src;
        n17.dst >> n18.src;
        n18.dst >> n19.src;
        n19.dst >> image_out;
    }
}

macro_rules! wrapped {
    ($name:ident, $part:ty, $from:ident: $from_type:ty => $to:ident: $to_type:ty, $new:expr) => {
        graph! {
            /// A graph around a graph.
            pub struct $name {
                input $from: $from_type;
                output $to: $to_type;
                let part: $part = $new;
                $from >> part.image;
                part.image_out >> $to;
            }
        }
    };
}
wrapped!(Wrapped, Long, image: Tensor<f32> => image_out: Tensor<f32>, Long::new());

graph! {
    /// An output alone.
    pub struct Numbers {
        output numbers: u64;
        let counter: Counter = Counter::new();
        counter.number >> numbers;
    }
}

graph! {
    /// An input alone.
    pub struct Screen {
        input image: &Tensor<f32>;
        input label: &u64;
        let show: Show = Show::new(Vec::new());
        image >> show.image;
        label >> show.label;
    }
}

graph! {
    /// All.
    pub(crate) struct Whole {
        #[when(count(2))]
        let camera: Camera = Camera::new(4, 3);
        let part: parts::Part = parts::Part::new(1, Vec::new(), None, (), [0; 2]);
        let wrapped: Wrapped = Wrapped::new();
        let numbers: Numbers = Numbers::new();
        let screen: Screen = Screen::new();
        camera.frame >> part.r#type;
        part.failed >> wrapped.image;
        wrapped.image_out >> screen.image;
        numbers.numbers >> screen.label;
    }
}

fn in_a_function(platform: &Platform) -> Result<u64> {
    graph! {
        struct Local {
            input n: u64;
            let list: Numbered = Numbered::new(0);
            n >> list.n;
        }
    }
    #[operator]
    struct Numbered {
        #[input]
        n: u64,
        sum: u64,
    }
    impl Compute for Numbered {
        fn compute(&mut self, io: NumberedIo<'_>, cx: &ExecutionContext) -> Result<()> {
            self.sum += io.n.receive().into_data() + 1;
            if self.sum > 5 {
                cx.stop_graph();
            }
            Ok(())
        }
    }
    graph! {
        struct Around {
            let numbers: Numbers = Numbers::new();
            let local: Local = Local::new();
            numbers.numbers >> local.n;
        }
    }
    let mut around = Around::new(platform)?;
    around.run()?;
    Ok(around.local().list().sum)
}

fn main() -> Result<()> {
    let platform = Platform::host().build()?;
    let mut whole = Whole::new(&platform)?;
    whole.run()?;
    assert_eq!(
        whole.screen().show().seen().iter().map(|(value, _)| *value).collect::<Vec<_>>(),
        [3.0, 4.0]
    );
    assert_eq!(whole.wrapped().part().n19().clone_name(), "n19");
    assert!(parts::Part::diagram().mermaid().contains("inside: Cast"));
    assert_eq!(in_a_function(&platform)?, 6);
    Ok(())
}

trait CloneName {
    fn clone_name(&self) -> &'static str {
        "n19"
    }
}
impl CloneName for Invert {}
