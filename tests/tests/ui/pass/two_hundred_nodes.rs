// Two hundred operators in one graph: the checks of constants stay within rustc's limits.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert, Show};

/// A graph of a camera, a chain of nodes with these names, and a sink: `graph!` gets each node and each edge.
macro_rules! chain {
    ($first:ident $($node:ident)*) => {
        chain! { $first [$($node)*] show, [$first $($node)*] >> [$($node.src)* show.image] }
    };
    ($first:ident [$($node:ident)*] $show:ident, [$($from:ident)*] >> [$($to:ident.$port:ident)*]) => {
        graph! {
            pub struct Large {
                const GPU: CudaStreamPool = CudaStreamPool::new().max_size(200);

                #[streams(GPU)]
                #[when(count(2))]
                let camera: Camera = Camera::new(4, 1);
                #[streams(GPU)]
                let $first: Cast = Cast::new();
                $(
                    #[streams(GPU)]
                    let $node: Invert = Invert::new();
                )*
                #[streams(GPU)]
                let $show: Show = Show::new(Vec::new());

                camera.frame >> $first.src;
                $($from.dst >> $to.$port;)*
            }
        }
    };
}

chain! {
    node0 node1 node2 node3 node4 node5 node6 node7 node8 node9 node10 node11 node12 node13 node14
    node15 node16 node17 node18 node19 node20 node21 node22 node23 node24 node25 node26 node27
    node28 node29 node30 node31 node32 node33 node34 node35 node36 node37 node38 node39 node40
    node41 node42 node43 node44 node45 node46 node47 node48 node49 node50 node51 node52 node53
    node54 node55 node56 node57 node58 node59 node60 node61 node62 node63 node64 node65 node66
    node67 node68 node69 node70 node71 node72 node73 node74 node75 node76 node77 node78 node79
    node80 node81 node82 node83 node84 node85 node86 node87 node88 node89 node90 node91 node92
    node93 node94 node95 node96 node97 node98 node99 node100 node101 node102 node103 node104
    node105 node106 node107 node108 node109 node110 node111 node112 node113 node114 node115
    node116 node117 node118 node119 node120 node121 node122 node123 node124 node125 node126
    node127 node128 node129 node130 node131 node132 node133 node134 node135 node136 node137
    node138 node139 node140 node141 node142 node143 node144 node145 node146 node147 node148
    node149 node150 node151 node152 node153 node154 node155 node156 node157 node158 node159
    node160 node161 node162 node163 node164 node165 node166 node167 node168 node169 node170
    node171 node172 node173 node174 node175 node176 node177 node178 node179 node180 node181
    node182 node183 node184 node185 node186 node187 node188 node189 node190 node191 node192
    node193 node194 node195 node196 node197
}

fn main() -> Result<()> {
    let mut large = Large::new(&Platform::host().build()?)?;
    large.run()?;
    assert_eq!(large.show().seen(), [(-1.0, None), (-2.0, None)]);
    Ok(())
}
