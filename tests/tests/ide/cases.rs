//! The questions that the test asks an editor's language server, and the expected answers.

/// A question at a position in the program. The text `replaced` is replaced by `typed`, in which `|` is the cursor.
pub(crate) struct Case {
    pub(crate) replaced: &'static str,
    pub(crate) typed: &'static str,
    pub(crate) answer: Answer,
}

/// The answer of the editor.
pub(crate) enum Answer {
    /// The completion offers exactly these names.
    Offers(&'static [&'static str]),
    /// The completion offers at least these names.
    OffersToo(&'static [&'static str]),
    /// The hover text shows exactly these paths and declarations.
    Shows(&'static [&'static str]),
    /// The item at the cursor is declared in the line with this text.
    Leads(&'static str),
    /// The item gets the name `fresh`, and these lines change, with these texts.
    Renames(&'static [&'static str]),
}

use Answer::{Leads, Offers, OffersToo, Renames, Shows};

const fn case(replaced: &'static str, typed: &'static str, answer: Answer) -> Case {
    Case { replaced, typed, answer }
}

const fn edge(typed: &'static str, answer: Answer) -> Case {
    case("/*edge*/", typed, answer)
}

/// A question at the end of the body, where no statement follows.
const fn end(typed: &'static str, answer: Answer) -> Case {
    case("/*end*/", typed, answer)
}

const fn first_edge(typed: &'static str, answer: Answer) -> Case {
    case("left.frame >> cast.src;", typed, answer)
}

const fn when(typed: &'static str, answer: Answer) -> Case {
    case("#[when(stream_done(src))]", typed, answer)
}

const fn streams(typed: &'static str, answer: Answer) -> Case {
    case("#[streams(GPU)]", typed, answer)
}

const fn inside(typed: &'static str, answer: Answer) -> Case {
    case("/*inside*/", typed, answer)
}

const fn outside(typed: &'static str, answer: Answer) -> Case {
    case("/*outside*/", typed, answer)
}

const fn compute(typed: &'static str, answer: Answer) -> Case {
    case("/*compute*/", typed, answer)
}

const fn choose(typed: &'static str, answer: Answer) -> Case {
    case("/*choose*/", typed, answer)
}

const NODES: Answer = Offers(&["cast", "fuse", "left", "right"]);
const PORTS_OF_CAST: Answer = Offers(&["dst", "src"]);
const PORTS_OF_FUSE: Answer = Offers(&["depth", "left_image", "right_image"]);
#[rustfmt::skip]
const CONDITIONS: Answer = OffersToo(&[
    "any", "asynchronous", "boolean", "condition", "count", "expiring", "host_done", "memory_available",
    "message_available", "multi_message", "periodic", "room", "stream_done",
]);
const POOLS: Answer = Offers(&["GPU", "STREAMS", "none"]);
const CAMERA: Answer = Shows(&["program", "pub struct Camera {}"]);
const CAST: Answer = Shows(&["program", "pub struct Cast {"]);

#[rustfmt::skip]
pub(crate) const CASES: &[Case] = &[
    // Completion of ports: in an incomplete statement, in one that ends in a semicolon, and in a complete one.
    edge("left.|", Offers(&["frame"])),
    edge("left.|;", Offers(&["frame"])),
    end("left.|", Offers(&["frame"])),
    edge("left.fr| >> cast.src;", Offers(&["frame"])),
    edge("left.frame >> cast.|", PORTS_OF_CAST),
    edge("left.frame >> cast.|;", PORTS_OF_CAST),
    edge("cast.dst >> (fuse.|);", PORTS_OF_FUSE),
    edge("cast.dst >> (fuse.left_image, fuse.|);", PORTS_OF_FUSE),
    edge("fuse.|", PORTS_OF_FUSE),
    // Completion of nodes, where nothing else can stand.
    edge("le|", NODES),
    edge("|", NODES),
    end("|", NODES),
    edge("left.frame >> ca|", NODES),
    edge("left.frame >> |", NODES),
    edge("left.frame >> |;", NODES),
    end("left.frame >> |", NODES),
    end("left.frame >> |;", NODES),
    edge("left.frame >> (|);", NODES),
    edge("left.frame >> (cast.src, |);", NODES),
    first_edge("le|ft.frame >> cast.src;", NODES),
    first_edge("left.frame >> ca|st.src;", NODES),
    // Completion of the ports of a graph, outside and inside of it.
    outside("prepare.|", Offers(&["bytes", "floats"])),
    outside("source.frame >> prepare.|;", Offers(&["bytes", "floats"])),
    inside("|", Offers(&["bytes", "floats", "inner"])),
    inside("inner.dst >> |;", Offers(&["bytes", "floats", "inner"])),
    inside("inner.|", PORTS_OF_CAST),
    case("graph.prepare().inner();", "graph.prepare().in|;", OffersToo(&["inner"])),
    case("graph.prepare_mut().inner_mut();", "graph.prepare_mut().in|;", OffersToo(&["inner_mut"])),
    case("graph.params().prepare().inner()", "graph.params().prepare().in|", OffersToo(&["inner"])),
    case("/*loop*/", "many[i].|", Offers(&["bytes", "floats"])),
    case("/*loop*/", "source.frame >> |;", Offers(&["many", "prepare", "source"])),
    case("Prepare::new(i as f32)", "Prepare::n|", OffersToo(&["new"])),
    // Completion of types and values.
    edge("let more: Cam| = Camera::new();", OffersToo(&["Camera"])),
    edge("let more: Camera = Camera::n|;", OffersToo(&["new"])),
    edge("#[when(count(fra|))] let more: Camera = Camera::new();", OffersToo(&["frames"])),
    // Completion of the words in attributes.
    when("#[when(|)]", CONDITIONS),
    when("#[when(stre|)]", CONDITIONS),
    when("#[when(stre|am_done(src))]", CONDITIONS),
    when("#[when(stream_done(src), |)]", CONDITIONS),
    when("#[when(any(|))]", CONDITIONS),
    when("#[when(any(count(3), |))]", CONDITIONS),
    when("#[when(stream_done(|))]", PORTS_OF_CAST),
    when("#[when(stream_done(s|))]", PORTS_OF_CAST),
    when("#[when(stream_done(s|rc))]", PORTS_OF_CAST),
    when("#[when(multi_message([src, |], sum(2)))]", PORTS_OF_CAST),
    when("#[when(multi_message([src], |))]", Offers(&["each", "sum"])),
    when("#[when(periodic(5ms, |))]", Offers(&["catch_up", "skip", "spaced"])),
    when("#[on_failure(|)]", Offers(&["restart", "skip", "stop"])),
    streams("#[streams(|)]", POOLS),
    streams("#[streams(G|)]", POOLS),
    streams("#[streams(G|PU)]", POOLS),
    streams("#[str|]", OffersToo(&["on_failure", "streams", "when", "worker"])),
    streams("#[|]", OffersToo(&["on_failure", "streams", "when", "worker"])),
    edge("#[policy(|)] left.frame >> cast.src;", Offers(&["fault", "pop", "reject"])),
    // Hover over a name: shows the user's item.
    first_edge("le|ft.frame >> cast.src;", Shows(&["program::Stereo", "pub fn left(&self) -> &Camera"])),
    first_edge("left.fr|ame >> cast.src;", Shows(&["program::Camera_Ports", "pub frame: Output<Camera_frame>"])),
    first_edge("left.frame >|> cast.src;", Shows(&[])),
    first_edge("left.frame >> ca|st.src;", Shows(&["program::Stereo", "pub fn cast(&self) -> &Cast"])),
    first_edge("left.frame >> cast.s|rc;", Shows(&["program::Cast_Ports", "pub src: Input<Cast_src>"])),
    case("left: Camera", "left: Cam|era", CAMERA),
    case("left: Camera = Camera", "left: Camera = Cam|era", CAMERA),
    case("cast: Cast", "cast: Ca|st", CAST),
    case("(frames: u64)", "(fra|mes: u64)", Shows(&["frames: u64"])),
    case("count(frames)", "count(fra|mes)", Shows(&["frames: u64"])),
    case("const GPU", "const G|PU", Shows(&["program", "const GPU: CudaStreamPool = CudaStreamPool::new()"])),
    streams("#[streams(G|PU)]", Shows(&["program", "const GPU: CudaStreamPool = CudaStreamPool::new()"])),
    when("#[wh|en(stream_done(src))]", Shows(&["program::attribute", "pub(in ...) fn when(conditions: Conditions)"])),
    when("#[when(stream|_done(src))]", Shows(&["program::when", "pub(in ...) fn stream_done(input: Input)"])),
    when("#[when(stream_done(s|rc))]", Shows(&["program::Cast_Ports", "pub src: Input<Cast_src>"])),
    case("src: &Tensor", "src: &Ten|sor", Shows(&["streamflow::memory::tensor", "pub struct Tensor<T>"])),
    case("dst: Tensor", "dst: Ten|sor", Shows(&["streamflow::memory::tensor", "pub struct Tensor<T>"])),
    case("source.frame >> prepare.bytes", "source.frame >> prepare.by|tes", Shows(&["program::Prepare_Ports", "pub bytes: ExportedInput<'__a, Prepare_bytes>"])),
    case("bytes >> inner.src", "by|tes >> inner.src", Shows(&["program::Prepare_Ports", "pub bytes: ExportedInput<'__a, Prepare_bytes>"])),
    case("input bytes: &Tensor", "input bytes: &Ten|sor", Shows(&["streamflow::memory::tensor", "pub struct Tensor<T>"])),
    // The editor shows each item that a name declares. Exactly these are renamed with the name.
    case("let left", "let le|ft", Shows(&[
        "program::Stereo", "pub fn left(&self) -> &Camera",
        "program::StereoHandle", "pub fn left(&self) -> &<Camera as ::streamflow::__private::NodeType>::Params",
        "program::Stereo", "pub fn left_mut(&mut self) -> <Camera as ::streamflow::__private::NodeType>::Mut<'_>",
    ])),
    case("src: &Tensor", "s|rc: &Tensor", Shows(&[
        "program::Cast_Ports", "pub src: Input<Cast_src>",
        "program::CastIo", "pub src: In<'t, &'t Tensor<u8>, Pending>",
    ])),
    case("struct Stereo", "struct Ste|reo", Shows(&[
        "program", "pub struct Stereo {}",
        "program", "pub struct StereoHandle()",
    ])),
    // Go to definition.
    case("source.frame >> prepare.bytes", "source.frame >> prepare.by|tes", Leads("        input bytes: &Tensor<u8>;")),
    case("bytes >> inner.src", "by|tes >> inner.src", Leads("        input bytes: &Tensor<u8>;")),
    case("prepare.floats >> _", "pre|pare.floats >> _", Leads("        let prepare: Prepare")),
    first_edge("left.fr|ame >> cast.src;", Leads("    frame: Tensor<u8>,")),
    first_edge("left.frame >> cast.s|rc;", Leads("    src: &Tensor<u8>,")),
    first_edge("right.frame >> ca|st.src;", Leads("        let cast: Cast")),
    first_edge("ri|ght.frame >> cast.src;", Leads("        let right: Camera")),
    edge("fuse.de|pth", Leads("    depth: Tensor<f32>,")),
    streams("#[streams(G|PU)]", Leads("        const GPU: CudaStreamPool")),
    when("#[when(stream_done(s|rc))]", Leads("    src: &Tensor<u8>,")),
    case("graph.cast();", "graph.ca|st();", Leads("        let cast: Cast")),
    // Rename.
    case("let cast", "let ca|st", Renames(&[
        "let fresh: Cast = Cast::new(1.0);",
        "left.frame >> fresh.src;",
        "fresh.dst >> (fuse.left_image, fuse.right_image);",
        "graph.params().fresh().set_gain(2.0);",
        "graph.fresh_mut();",
        "graph.fresh();",
    ])),
    // An edge refers to the node as `graph.cast()` does. The node's other two methods are declared where the node is.
    first_edge("left.frame >> ca|st.src;", Renames(&[
        "let fresh: Cast = Cast::new(1.0);",
        "left.frame >> fresh.src;",
        "fresh.dst >> (fuse.left_image, fuse.right_image);",
        "graph.fresh();",
    ])),
    case("src: &Tensor", "s|rc: &Tensor", Renames(&[
        "fresh: &Tensor<u8>,",
        "#[when(stream_done(fresh))]",
        "left.frame >> cast.fresh;",
        "bytes >> inner.fresh;",
    ])),
    case("gain: f32", "ga|in: f32", Renames(&[
        "fresh: f32,",
        "let gain = self.fresh;",
        "graph.params().prepare().inner().set_fresh(2.0);",
        "graph.params().cast().set_fresh(2.0);",
    ])),
    case("input bytes", "input by|tes", Renames(&[
        "input fresh: &Tensor<u8>;",
        "fresh >> inner.src;",
        "source.frame >> prepare.fresh;",
        "source.frame >> many[i].fresh;",
    ])),
    // A mistake in another statement changes nothing.
    case("right.frame >> _;", "right.frame >> shw.image; left.fr|ame >> _;", Shows(&["program::Camera_Ports", "pub frame: Output<Camera_frame>"])),
    case("right.frame >> _;", "right.frame >> ; le|ft.frame >> _;", Shows(&["program::Stereo", "pub fn left(&self) -> &Camera"])),
    case("const GPU", "const G|PU", Renames(&[
        "const fresh: CudaStreamPool = CudaStreamPool::new();",
        "#[streams(fresh)]",
    ])),
    case("let STREAMS", "let ST|REAMS", Renames(&[
        "let fresh = CudaStreamPool::new();",
        "#[streams(fresh)]",
    ])),
    case("(frames: u64)", "(fra|mes: u64)", Renames(&[
        "pub struct Stereo(fresh: u64) {",
        "#[when(count(fresh))]",
    ])),
    // Completion in fields of an operator.
    case("/*field*/", "more: Host|,", OffersToo(&["HostData"])),
    // Completion in `compute`: ports, and their methods.
    compute("io.|", PORTS_OF_CAST),
    compute("io.|;", PORTS_OF_CAST),
    compute("io.src.|", OffersToo(&["receive"])),
    compute("io.src.receive().|", OffersToo(&["receive_cuda_stream"])),
    compute("let (src, stream) = io.src.receive().receive_cuda_stream(cx)?; io.dst.|", OffersToo(&["emit"])),
    choose("io.|", Offers(&["branch", "number"])),
    choose("io.branch.|", OffersToo(&["great", "tiny"])),
    choose("io.branch.great().|", OffersToo(&["emit", "sequence"])),
    compute("cx.|", OffersToo(&["tensor", "download", "tick"])),
    compute("self.|", OffersToo(&["gain", "compute"])),
];
