use streamflow::kernel;

#[kernel(map)]
fn item(out: &mut f32, a: &f32) {
    static HALF: f32 = 0.5;
    *out = HALF;
}

#[kernel(map)]
fn break_with_a_value(out: &mut f32, a: &f32) {
    *out = *a;
    loop {
        break 1.0;
    }
}

#[kernel(map)]
fn let_else(out: &mut f32, a: &f32) {
    let 1.0 = *a else { loop {} };
    *out = 0.0;
}

#[kernel(map)]
fn tuple_pattern(out: &mut f32, a: &f32) {
    let (x, y) = *a;
    *out = x;
}

#[kernel(map)]
fn struct_pattern(out: &mut f32, a: &f32) {
    match *a {
        Point { x } => *out = x,
    }
}

#[kernel(map)]
fn slice_pattern(out: &mut f32, a: &f32) {
    match *a {
        [x] => *out = x,
    }
}

#[kernel(map)]
fn bound_pattern(out: &mut f32, a: &f32) {
    match *a {
        x @ 1.0 => *out = x,
        _ => {}
    }
}

#[kernel(map)]
fn if_let(out: &mut f32, a: &f32) {
    if let x = *a {
        *out = x;
    }
}

#[kernel(map)]
fn while_let(out: &mut f32, a: &f32) {
    while let x = *a {
        *out = x;
    }
}

#[kernel(map)]
fn steps(out: &mut f32, a: &f32) {
    for i in (0..8).step_by(2) {
        *out = i as f32;
    }
}

#[kernel(map)]
fn array(out: &mut f32, a: &f32) {
    for i in [1, 2] {
        *out = i as f32;
    }
}

#[kernel(map)]
fn tuple_loop(out: &mut f32, a: &f32) {
    for (i, j) in 0..8 {
        *out = i as f32;
    }
}

#[kernel(map)]
fn outside_of_a_loop(out: &mut f32, a: &f32) {
    *out = *a;
    continue;
}

#[kernel(map)]
fn guard(out: &mut f32, a: &f32) {
    match 1 {
        x if { let y = x; y > 0 } => *out = *a,
        _ => {}
    }
}

#[kernel(map)]
fn place(out: &mut f32, a: &f32) {
    a.x = 1.0;
    *out = *a;
}

#[kernel(map)]
fn labelled(out: &mut f32, a: &f32) {
    *out = 'found: {
        if *a < 0.0 {
            break 'found 0.0;
        }
        *a
    };
}

#[kernel(map)]
fn loop_with_a_value(out: &mut f32, a: &f32) {
    *out = loop {
        break;
    };
}

#[kernel(map)]
fn absent(out: &mut f32, a: &f32) {
    *out = *a;
    #[cfg(windows)]
    {
        *out = 0.0;
    }
}

#[kernel(map)]
fn name_in_a_pattern(out: &mut u32, a: &u32) {
    *out = match *a {
        0 | other => other,
    };
}

fn main() {}
