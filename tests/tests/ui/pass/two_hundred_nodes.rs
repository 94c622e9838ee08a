// Two hundred operators in one graph: the checks of constants stay within rustc's limits.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert, Show};

graph! {
    pub struct Large {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(200);

        #[streams(GPU)]
        #[when(count(2))]
        let camera: Camera = Camera::new(4, 1);
        #[streams(GPU)]
        let node0: Cast = Cast::new();
        #[streams(GPU)]
        let node1: Invert = Invert::new();
        #[streams(GPU)]
        let node2: Invert = Invert::new();
        #[streams(GPU)]
        let node3: Invert = Invert::new();
        #[streams(GPU)]
        let node4: Invert = Invert::new();
        #[streams(GPU)]
        let node5: Invert = Invert::new();
        #[streams(GPU)]
        let node6: Invert = Invert::new();
        #[streams(GPU)]
        let node7: Invert = Invert::new();
        #[streams(GPU)]
        let node8: Invert = Invert::new();
        #[streams(GPU)]
        let node9: Invert = Invert::new();
        #[streams(GPU)]
        let node10: Invert = Invert::new();
        #[streams(GPU)]
        let node11: Invert = Invert::new();
        #[streams(GPU)]
        let node12: Invert = Invert::new();
        #[streams(GPU)]
        let node13: Invert = Invert::new();
        #[streams(GPU)]
        let node14: Invert = Invert::new();
        #[streams(GPU)]
        let node15: Invert = Invert::new();
        #[streams(GPU)]
        let node16: Invert = Invert::new();
        #[streams(GPU)]
        let node17: Invert = Invert::new();
        #[streams(GPU)]
        let node18: Invert = Invert::new();
        #[streams(GPU)]
        let node19: Invert = Invert::new();
        #[streams(GPU)]
        let node20: Invert = Invert::new();
        #[streams(GPU)]
        let node21: Invert = Invert::new();
        #[streams(GPU)]
        let node22: Invert = Invert::new();
        #[streams(GPU)]
        let node23: Invert = Invert::new();
        #[streams(GPU)]
        let node24: Invert = Invert::new();
        #[streams(GPU)]
        let node25: Invert = Invert::new();
        #[streams(GPU)]
        let node26: Invert = Invert::new();
        #[streams(GPU)]
        let node27: Invert = Invert::new();
        #[streams(GPU)]
        let node28: Invert = Invert::new();
        #[streams(GPU)]
        let node29: Invert = Invert::new();
        #[streams(GPU)]
        let node30: Invert = Invert::new();
        #[streams(GPU)]
        let node31: Invert = Invert::new();
        #[streams(GPU)]
        let node32: Invert = Invert::new();
        #[streams(GPU)]
        let node33: Invert = Invert::new();
        #[streams(GPU)]
        let node34: Invert = Invert::new();
        #[streams(GPU)]
        let node35: Invert = Invert::new();
        #[streams(GPU)]
        let node36: Invert = Invert::new();
        #[streams(GPU)]
        let node37: Invert = Invert::new();
        #[streams(GPU)]
        let node38: Invert = Invert::new();
        #[streams(GPU)]
        let node39: Invert = Invert::new();
        #[streams(GPU)]
        let node40: Invert = Invert::new();
        #[streams(GPU)]
        let node41: Invert = Invert::new();
        #[streams(GPU)]
        let node42: Invert = Invert::new();
        #[streams(GPU)]
        let node43: Invert = Invert::new();
        #[streams(GPU)]
        let node44: Invert = Invert::new();
        #[streams(GPU)]
        let node45: Invert = Invert::new();
        #[streams(GPU)]
        let node46: Invert = Invert::new();
        #[streams(GPU)]
        let node47: Invert = Invert::new();
        #[streams(GPU)]
        let node48: Invert = Invert::new();
        #[streams(GPU)]
        let node49: Invert = Invert::new();
        #[streams(GPU)]
        let node50: Invert = Invert::new();
        #[streams(GPU)]
        let node51: Invert = Invert::new();
        #[streams(GPU)]
        let node52: Invert = Invert::new();
        #[streams(GPU)]
        let node53: Invert = Invert::new();
        #[streams(GPU)]
        let node54: Invert = Invert::new();
        #[streams(GPU)]
        let node55: Invert = Invert::new();
        #[streams(GPU)]
        let node56: Invert = Invert::new();
        #[streams(GPU)]
        let node57: Invert = Invert::new();
        #[streams(GPU)]
        let node58: Invert = Invert::new();
        #[streams(GPU)]
        let node59: Invert = Invert::new();
        #[streams(GPU)]
        let node60: Invert = Invert::new();
        #[streams(GPU)]
        let node61: Invert = Invert::new();
        #[streams(GPU)]
        let node62: Invert = Invert::new();
        #[streams(GPU)]
        let node63: Invert = Invert::new();
        #[streams(GPU)]
        let node64: Invert = Invert::new();
        #[streams(GPU)]
        let node65: Invert = Invert::new();
        #[streams(GPU)]
        let node66: Invert = Invert::new();
        #[streams(GPU)]
        let node67: Invert = Invert::new();
        #[streams(GPU)]
        let node68: Invert = Invert::new();
        #[streams(GPU)]
        let node69: Invert = Invert::new();
        #[streams(GPU)]
        let node70: Invert = Invert::new();
        #[streams(GPU)]
        let node71: Invert = Invert::new();
        #[streams(GPU)]
        let node72: Invert = Invert::new();
        #[streams(GPU)]
        let node73: Invert = Invert::new();
        #[streams(GPU)]
        let node74: Invert = Invert::new();
        #[streams(GPU)]
        let node75: Invert = Invert::new();
        #[streams(GPU)]
        let node76: Invert = Invert::new();
        #[streams(GPU)]
        let node77: Invert = Invert::new();
        #[streams(GPU)]
        let node78: Invert = Invert::new();
        #[streams(GPU)]
        let node79: Invert = Invert::new();
        #[streams(GPU)]
        let node80: Invert = Invert::new();
        #[streams(GPU)]
        let node81: Invert = Invert::new();
        #[streams(GPU)]
        let node82: Invert = Invert::new();
        #[streams(GPU)]
        let node83: Invert = Invert::new();
        #[streams(GPU)]
        let node84: Invert = Invert::new();
        #[streams(GPU)]
        let node85: Invert = Invert::new();
        #[streams(GPU)]
        let node86: Invert = Invert::new();
        #[streams(GPU)]
        let node87: Invert = Invert::new();
        #[streams(GPU)]
        let node88: Invert = Invert::new();
        #[streams(GPU)]
        let node89: Invert = Invert::new();
        #[streams(GPU)]
        let node90: Invert = Invert::new();
        #[streams(GPU)]
        let node91: Invert = Invert::new();
        #[streams(GPU)]
        let node92: Invert = Invert::new();
        #[streams(GPU)]
        let node93: Invert = Invert::new();
        #[streams(GPU)]
        let node94: Invert = Invert::new();
        #[streams(GPU)]
        let node95: Invert = Invert::new();
        #[streams(GPU)]
        let node96: Invert = Invert::new();
        #[streams(GPU)]
        let node97: Invert = Invert::new();
        #[streams(GPU)]
        let node98: Invert = Invert::new();
        #[streams(GPU)]
        let node99: Invert = Invert::new();
        #[streams(GPU)]
        let node100: Invert = Invert::new();
        #[streams(GPU)]
        let node101: Invert = Invert::new();
        #[streams(GPU)]
        let node102: Invert = Invert::new();
        #[streams(GPU)]
        let node103: Invert = Invert::new();
        #[streams(GPU)]
        let node104: Invert = Invert::new();
        #[streams(GPU)]
        let node105: Invert = Invert::new();
        #[streams(GPU)]
        let node106: Invert = Invert::new();
        #[streams(GPU)]
        let node107: Invert = Invert::new();
        #[streams(GPU)]
        let node108: Invert = Invert::new();
        #[streams(GPU)]
        let node109: Invert = Invert::new();
        #[streams(GPU)]
        let node110: Invert = Invert::new();
        #[streams(GPU)]
        let node111: Invert = Invert::new();
        #[streams(GPU)]
        let node112: Invert = Invert::new();
        #[streams(GPU)]
        let node113: Invert = Invert::new();
        #[streams(GPU)]
        let node114: Invert = Invert::new();
        #[streams(GPU)]
        let node115: Invert = Invert::new();
        #[streams(GPU)]
        let node116: Invert = Invert::new();
        #[streams(GPU)]
        let node117: Invert = Invert::new();
        #[streams(GPU)]
        let node118: Invert = Invert::new();
        #[streams(GPU)]
        let node119: Invert = Invert::new();
        #[streams(GPU)]
        let node120: Invert = Invert::new();
        #[streams(GPU)]
        let node121: Invert = Invert::new();
        #[streams(GPU)]
        let node122: Invert = Invert::new();
        #[streams(GPU)]
        let node123: Invert = Invert::new();
        #[streams(GPU)]
        let node124: Invert = Invert::new();
        #[streams(GPU)]
        let node125: Invert = Invert::new();
        #[streams(GPU)]
        let node126: Invert = Invert::new();
        #[streams(GPU)]
        let node127: Invert = Invert::new();
        #[streams(GPU)]
        let node128: Invert = Invert::new();
        #[streams(GPU)]
        let node129: Invert = Invert::new();
        #[streams(GPU)]
        let node130: Invert = Invert::new();
        #[streams(GPU)]
        let node131: Invert = Invert::new();
        #[streams(GPU)]
        let node132: Invert = Invert::new();
        #[streams(GPU)]
        let node133: Invert = Invert::new();
        #[streams(GPU)]
        let node134: Invert = Invert::new();
        #[streams(GPU)]
        let node135: Invert = Invert::new();
        #[streams(GPU)]
        let node136: Invert = Invert::new();
        #[streams(GPU)]
        let node137: Invert = Invert::new();
        #[streams(GPU)]
        let node138: Invert = Invert::new();
        #[streams(GPU)]
        let node139: Invert = Invert::new();
        #[streams(GPU)]
        let node140: Invert = Invert::new();
        #[streams(GPU)]
        let node141: Invert = Invert::new();
        #[streams(GPU)]
        let node142: Invert = Invert::new();
        #[streams(GPU)]
        let node143: Invert = Invert::new();
        #[streams(GPU)]
        let node144: Invert = Invert::new();
        #[streams(GPU)]
        let node145: Invert = Invert::new();
        #[streams(GPU)]
        let node146: Invert = Invert::new();
        #[streams(GPU)]
        let node147: Invert = Invert::new();
        #[streams(GPU)]
        let node148: Invert = Invert::new();
        #[streams(GPU)]
        let node149: Invert = Invert::new();
        #[streams(GPU)]
        let node150: Invert = Invert::new();
        #[streams(GPU)]
        let node151: Invert = Invert::new();
        #[streams(GPU)]
        let node152: Invert = Invert::new();
        #[streams(GPU)]
        let node153: Invert = Invert::new();
        #[streams(GPU)]
        let node154: Invert = Invert::new();
        #[streams(GPU)]
        let node155: Invert = Invert::new();
        #[streams(GPU)]
        let node156: Invert = Invert::new();
        #[streams(GPU)]
        let node157: Invert = Invert::new();
        #[streams(GPU)]
        let node158: Invert = Invert::new();
        #[streams(GPU)]
        let node159: Invert = Invert::new();
        #[streams(GPU)]
        let node160: Invert = Invert::new();
        #[streams(GPU)]
        let node161: Invert = Invert::new();
        #[streams(GPU)]
        let node162: Invert = Invert::new();
        #[streams(GPU)]
        let node163: Invert = Invert::new();
        #[streams(GPU)]
        let node164: Invert = Invert::new();
        #[streams(GPU)]
        let node165: Invert = Invert::new();
        #[streams(GPU)]
        let node166: Invert = Invert::new();
        #[streams(GPU)]
        let node167: Invert = Invert::new();
        #[streams(GPU)]
        let node168: Invert = Invert::new();
        #[streams(GPU)]
        let node169: Invert = Invert::new();
        #[streams(GPU)]
        let node170: Invert = Invert::new();
        #[streams(GPU)]
        let node171: Invert = Invert::new();
        #[streams(GPU)]
        let node172: Invert = Invert::new();
        #[streams(GPU)]
        let node173: Invert = Invert::new();
        #[streams(GPU)]
        let node174: Invert = Invert::new();
        #[streams(GPU)]
        let node175: Invert = Invert::new();
        #[streams(GPU)]
        let node176: Invert = Invert::new();
        #[streams(GPU)]
        let node177: Invert = Invert::new();
        #[streams(GPU)]
        let node178: Invert = Invert::new();
        #[streams(GPU)]
        let node179: Invert = Invert::new();
        #[streams(GPU)]
        let node180: Invert = Invert::new();
        #[streams(GPU)]
        let node181: Invert = Invert::new();
        #[streams(GPU)]
        let node182: Invert = Invert::new();
        #[streams(GPU)]
        let node183: Invert = Invert::new();
        #[streams(GPU)]
        let node184: Invert = Invert::new();
        #[streams(GPU)]
        let node185: Invert = Invert::new();
        #[streams(GPU)]
        let node186: Invert = Invert::new();
        #[streams(GPU)]
        let node187: Invert = Invert::new();
        #[streams(GPU)]
        let node188: Invert = Invert::new();
        #[streams(GPU)]
        let node189: Invert = Invert::new();
        #[streams(GPU)]
        let node190: Invert = Invert::new();
        #[streams(GPU)]
        let node191: Invert = Invert::new();
        #[streams(GPU)]
        let node192: Invert = Invert::new();
        #[streams(GPU)]
        let node193: Invert = Invert::new();
        #[streams(GPU)]
        let node194: Invert = Invert::new();
        #[streams(GPU)]
        let node195: Invert = Invert::new();
        #[streams(GPU)]
        let node196: Invert = Invert::new();
        #[streams(GPU)]
        let node197: Invert = Invert::new();
        #[streams(GPU)]
        let show: Show = Show::new(Vec::new());

        camera.frame >> node0.src;
        node0.dst >> node1.src;
        node1.dst >> node2.src;
        node2.dst >> node3.src;
        node3.dst >> node4.src;
        node4.dst >> node5.src;
        node5.dst >> node6.src;
        node6.dst >> node7.src;
        node7.dst >> node8.src;
        node8.dst >> node9.src;
        node9.dst >> node10.src;
        node10.dst >> node11.src;
        node11.dst >> node12.src;
        node12.dst >> node13.src;
        node13.dst >> node14.src;
        node14.dst >> node15.src;
        node15.dst >> node16.src;
        node16.dst >> node17.src;
        node17.dst >> node18.src;
        node18.dst >> node19.src;
        node19.dst >> node20.src;
        node20.dst >> node21.src;
        node21.dst >> node22.src;
        node22.dst >> node23.src;
        node23.dst >> node24.src;
        node24.dst >> node25.src;
        node25.dst >> node26.src;
        node26.dst >> node27.src;
        node27.dst >> node28.src;
        node28.dst >> node29.src;
        node29.dst >> node30.src;
        node30.dst >> node31.src;
        node31.dst >> node32.src;
        node32.dst >> node33.src;
        node33.dst >> node34.src;
        node34.dst >> node35.src;
        node35.dst >> node36.src;
        node36.dst >> node37.src;
        node37.dst >> node38.src;
        node38.dst >> node39.src;
        node39.dst >> node40.src;
        node40.dst >> node41.src;
        node41.dst >> node42.src;
        node42.dst >> node43.src;
        node43.dst >> node44.src;
        node44.dst >> node45.src;
        node45.dst >> node46.src;
        node46.dst >> node47.src;
        node47.dst >> node48.src;
        node48.dst >> node49.src;
        node49.dst >> node50.src;
        node50.dst >> node51.src;
        node51.dst >> node52.src;
        node52.dst >> node53.src;
        node53.dst >> node54.src;
        node54.dst >> node55.src;
        node55.dst >> node56.src;
        node56.dst >> node57.src;
        node57.dst >> node58.src;
        node58.dst >> node59.src;
        node59.dst >> node60.src;
        node60.dst >> node61.src;
        node61.dst >> node62.src;
        node62.dst >> node63.src;
        node63.dst >> node64.src;
        node64.dst >> node65.src;
        node65.dst >> node66.src;
        node66.dst >> node67.src;
        node67.dst >> node68.src;
        node68.dst >> node69.src;
        node69.dst >> node70.src;
        node70.dst >> node71.src;
        node71.dst >> node72.src;
        node72.dst >> node73.src;
        node73.dst >> node74.src;
        node74.dst >> node75.src;
        node75.dst >> node76.src;
        node76.dst >> node77.src;
        node77.dst >> node78.src;
        node78.dst >> node79.src;
        node79.dst >> node80.src;
        node80.dst >> node81.src;
        node81.dst >> node82.src;
        node82.dst >> node83.src;
        node83.dst >> node84.src;
        node84.dst >> node85.src;
        node85.dst >> node86.src;
        node86.dst >> node87.src;
        node87.dst >> node88.src;
        node88.dst >> node89.src;
        node89.dst >> node90.src;
        node90.dst >> node91.src;
        node91.dst >> node92.src;
        node92.dst >> node93.src;
        node93.dst >> node94.src;
        node94.dst >> node95.src;
        node95.dst >> node96.src;
        node96.dst >> node97.src;
        node97.dst >> node98.src;
        node98.dst >> node99.src;
        node99.dst >> node100.src;
        node100.dst >> node101.src;
        node101.dst >> node102.src;
        node102.dst >> node103.src;
        node103.dst >> node104.src;
        node104.dst >> node105.src;
        node105.dst >> node106.src;
        node106.dst >> node107.src;
        node107.dst >> node108.src;
        node108.dst >> node109.src;
        node109.dst >> node110.src;
        node110.dst >> node111.src;
        node111.dst >> node112.src;
        node112.dst >> node113.src;
        node113.dst >> node114.src;
        node114.dst >> node115.src;
        node115.dst >> node116.src;
        node116.dst >> node117.src;
        node117.dst >> node118.src;
        node118.dst >> node119.src;
        node119.dst >> node120.src;
        node120.dst >> node121.src;
        node121.dst >> node122.src;
        node122.dst >> node123.src;
        node123.dst >> node124.src;
        node124.dst >> node125.src;
        node125.dst >> node126.src;
        node126.dst >> node127.src;
        node127.dst >> node128.src;
        node128.dst >> node129.src;
        node129.dst >> node130.src;
        node130.dst >> node131.src;
        node131.dst >> node132.src;
        node132.dst >> node133.src;
        node133.dst >> node134.src;
        node134.dst >> node135.src;
        node135.dst >> node136.src;
        node136.dst >> node137.src;
        node137.dst >> node138.src;
        node138.dst >> node139.src;
        node139.dst >> node140.src;
        node140.dst >> node141.src;
        node141.dst >> node142.src;
        node142.dst >> node143.src;
        node143.dst >> node144.src;
        node144.dst >> node145.src;
        node145.dst >> node146.src;
        node146.dst >> node147.src;
        node147.dst >> node148.src;
        node148.dst >> node149.src;
        node149.dst >> node150.src;
        node150.dst >> node151.src;
        node151.dst >> node152.src;
        node152.dst >> node153.src;
        node153.dst >> node154.src;
        node154.dst >> node155.src;
        node155.dst >> node156.src;
        node156.dst >> node157.src;
        node157.dst >> node158.src;
        node158.dst >> node159.src;
        node159.dst >> node160.src;
        node160.dst >> node161.src;
        node161.dst >> node162.src;
        node162.dst >> node163.src;
        node163.dst >> node164.src;
        node164.dst >> node165.src;
        node165.dst >> node166.src;
        node166.dst >> node167.src;
        node167.dst >> node168.src;
        node168.dst >> node169.src;
        node169.dst >> node170.src;
        node170.dst >> node171.src;
        node171.dst >> node172.src;
        node172.dst >> node173.src;
        node173.dst >> node174.src;
        node174.dst >> node175.src;
        node175.dst >> node176.src;
        node176.dst >> node177.src;
        node177.dst >> node178.src;
        node178.dst >> node179.src;
        node179.dst >> node180.src;
        node180.dst >> node181.src;
        node181.dst >> node182.src;
        node182.dst >> node183.src;
        node183.dst >> node184.src;
        node184.dst >> node185.src;
        node185.dst >> node186.src;
        node186.dst >> node187.src;
        node187.dst >> node188.src;
        node188.dst >> node189.src;
        node189.dst >> node190.src;
        node190.dst >> node191.src;
        node191.dst >> node192.src;
        node192.dst >> node193.src;
        node193.dst >> node194.src;
        node194.dst >> node195.src;
        node195.dst >> node196.src;
        node196.dst >> node197.src;
        node197.dst >> show.image;
    }
}

fn main() -> Result<()> {
    let mut large = Large::new(&Platform::host().build()?)?;
    large.run()?;
    assert_eq!(large.show().seen(), [(-1.0, None), (-2.0, None)]);
    Ok(())
}
