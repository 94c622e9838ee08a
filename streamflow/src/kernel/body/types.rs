//! The structs of a body in CUDA. They are before the body, and so are one type in it and in the functions that it calls.

use std::any::TypeId;
use std::fmt::Write;

/// The structs that a body has, each with its number: number 2 is `streamflow_S2` in CUDA.
#[derive(Debug, Default)]
pub struct Types {
    known: Vec<TypeId>,
    text: String,
}

/// A field of a struct: its name in CUDA, its type there, and the bytes of a struct that ends with it.
type Field = (&'static str, String, usize);

impl Types {
    /// The text of a kernel: the structs that its body needs, and the body.
    pub fn with(make: impl FnOnce(&mut Self) -> String) -> String {
        let mut types = Self::default();
        let body = make(&mut types);
        types.text + &body
    }

    /// The name of a struct of so many bytes, with this alignment. Its text checks that the compiler places the fields as Rust's side does.
    pub fn structure<T: 'static>(
        &mut self,
        [bytes, align]: [usize; 2],
        fields: impl FnOnce(&mut Self) -> Vec<Field>,
    ) -> String {
        let id = TypeId::of::<T>();
        let name = |number| format!("streamflow_S{number}");
        if let Some(number) = self.known.iter().position(|known| *known == id) {
            return name(number);
        }
        // The structs of the fields come before this one.
        let fields = fields(self);
        let name = name(self.known.len());
        self.known.push(id);
        let members: String =
            fields.iter().map(|(field, ty, _)| format!("{ty} {field}; ")).collect();
        // NVRTC has no `offsetof`: the places follow from the sizes of the structs with the first fields alone.
        let mut parts = String::new();
        for (number, (_, _, bytes)) in fields.iter().enumerate() {
            let first = fields.iter().take(number + 1);
            let members: String = first.map(|(field, ty, _)| format!("{ty} {field}; ")).collect();
            let _ = write!(
                parts,
                "struct {name}_{number} {{ {members}}};\n\
                 static_assert(sizeof({name}_{number}) == {bytes}, \"the place of a field\");\n"
            );
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.text,
            "{parts}struct {name} {{ {members}}};\n\
             static_assert(sizeof({name}) == {bytes} && alignof({name}) == {align}, \"the layout of a struct\");"
        );
        name
    }
}

/// An initializer of CUDA C++: `{a, b}`.
pub fn braces(parts: impl IntoIterator<Item = String>) -> String {
    format!("{{{}}}", parts.into_iter().collect::<Vec<_>>().join(", "))
}

/// The places of the fields of a struct in C, from the bytes and the alignment of each.
pub const fn offsets<const N: usize>(fields: [(usize, usize); N]) -> [usize; N] {
    let (mut places, mut end, mut i) = ([0; N], 0_usize, 0);
    while i < N {
        let (bytes, align) = fields[i];
        places[i] = end.next_multiple_of(align);
        end = places[i] + bytes;
        i += 1;
    }
    places
}

/// The bytes of the structs with the first fields alone, each one field longer.
pub const fn parts<const N: usize>(fields: [(usize, usize); N]) -> [usize; N] {
    let (places, mut bytes, mut most, mut i) = (offsets(fields), [0; N], 1, 0);
    while i < N {
        most = if fields[i].1 > most { fields[i].1 } else { most };
        bytes[i] = (places[i] + fields[i].0).next_multiple_of(most);
        i += 1;
    }
    bytes
}

/// The alignment of a struct in C.
pub const fn alignment<const N: usize>(fields: [(usize, usize); N]) -> usize {
    let (mut most, mut i) = (1, 0);
    while i < N {
        most = if fields[i].1 > most { fields[i].1 } else { most };
        i += 1;
    }
    most
}

/// The bytes of a struct in C.
pub const fn size<const N: usize>(fields: [(usize, usize); N]) -> usize {
    let last = offsets(fields)[N - 1] + fields[N - 1].0;
    last.next_multiple_of(alignment(fields))
}
