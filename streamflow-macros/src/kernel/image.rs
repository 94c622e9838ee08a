//! The options of a kernel whose code for a GPU is an image that another tool has compiled: `unsafe image = "scale.ptx"`,
//! `entry = "scale"` and `slices = pointers`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, ForeignItemFn, Generics, ItemFn, Lit, LitStr, Token, parse_quote};

use super::model::{Argument, ArgumentKind, ImageOptions};
use crate::diagnostic::Errors;
use crate::expression::first_and_last;
use crate::tokens::spelled_tokens;

const FORM: &str =
    "write `unsafe image = \"scale.ptx\"`: with `unsafe`, the author vouches for the compiled code";

impl ImageOptions {
    /// Whether the user wrote an image, readable or not.
    pub(super) fn is_given(&self) -> bool {
        self.image.is_some()
    }

    pub(super) fn has_pointers(&self) -> bool {
        self.slices.is_some()
    }

    /// The name of the function within the image.
    fn entry_name(&self, kernel: &Ident) -> TokenStream {
        match &self.entry {
            Some((_, Some(name))) => name.to_token_stream(),
            _ => kernel.unraw().to_string().to_token_stream(),
        }
    }

    /// Reads the option after its word, one of `image`, `entry` and `slices`.
    pub(super) fn read(
        &mut self,
        word: &Ident,
        safety: Option<Token![unsafe]>,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) {
        let text = word.to_string();
        let is_given = match text.as_str() {
            "image" => self.image.is_some(),
            "entry" => self.entry.is_some(),
            _ => self.slices.is_some(),
        };
        if is_given {
            errors.at(word, format!("`{text}` is given twice; a kernel has one image"));
            let _rest = input.parse::<TokenStream>();
            return;
        }
        match (text.as_str(), safety) {
            ("image", None) => errors.at(word, format!("`image` without `unsafe`; {FORM}")),
            ("image", Some(_)) | (_, None) => {}
            (_, safety) => errors.at(safety, format!("`{text}` is not unsafe; leave `unsafe` out")),
        }
        match text.as_str() {
            "image" => {
                let form = "`image` is followed by a path or by bytes: `unsafe image = \"scale.ptx\"`, or \
                            `unsafe image = include_bytes!(…)`";
                self.image = Some((word.clone(), value(word, input, form, errors)));
            }
            "entry" => {
                let form = "`entry` is followed by the name of the function in the image: `entry = \"scale\"`";
                let name = value::<LitStr>(word, input, form, errors);
                if let Some(empty) = name.as_ref().filter(|name| name.value().is_empty()) {
                    errors.at(empty, form);
                }
                self.entry = Some((word.clone(), name));
            }
            _ => {
                let form = "`slices = pointers` passes the address of a slice alone; leave it out where the code takes the \
                            length after each address";
                if value::<Ident>(word, input, form, errors).is_some_and(|how| {
                    if how != "pointers" {
                        errors.at(&how, form);
                    }
                    true
                }) {
                    self.slices = Some(word.clone());
                }
            }
        }
    }

    /// Reports options and arguments that a kernel of an image can't have.
    pub(super) fn check(
        &self,
        other: Option<&Ident>,
        generics: &Generics,
        arguments: &[Argument],
        errors: &mut Errors,
    ) {
        let Some((image, _)) = &self.image else {
            let words = [self.entry.as_ref().map(|(word, _)| word), self.slices.as_ref()];
            for word in words.into_iter().flatten() {
                errors.at(
                    word,
                    format!("`{word}` belongs to an image, and this kernel has none; {FORM}"),
                );
            }
            return;
        };
        if let Some(other) = other {
            errors.at(
                other,
                format!("a kernel has one body for a GPU, `cuda` or `image`, and `{image}` is given, too; remove one"),
            );
        }
        if let Some(param) = generics.type_params().next() {
            let text = "a function of an image has the types that it was compiled for";
            errors.at(param, format!("{text}; write them instead of `{}`", param.ident));
        }
        for Argument { ident, kind } in arguments {
            if self.has_pointers()
                && matches!(kind, ArgumentKind::View(..) | ArgumentKind::ViewMut(..))
            {
                errors.at(
                    ident,
                    format!(
                        "`{ident}` is a view, and `slices = pointers` passes addresses alone: take a slice, and its strides \
                         as values"
                    ),
                );
            }
        }
    }
}

/// Reads `= value`. Reports `form` if there is none.
fn value<T: Parse>(
    word: &Ident,
    input: ParseStream<'_>,
    form: &str,
    errors: &mut Errors,
) -> Option<T> {
    let value = (|| {
        input.parse::<Token![=]>()?;
        input.parse::<T>()
    })();
    if value.is_err() {
        let mut all = word.to_token_stream();
        all.extend(input.parse::<TokenStream>().unwrap_or_default());
        errors.at(all, form);
    }
    value.ok()
}

/// Parses a function that ends with `;`: a kernel of an image without a body for the simulator.
pub(super) fn function_without_body(item: TokenStream) -> Option<ItemFn> {
    let ForeignItemFn { attrs, vis, modifiers, sig, .. } = syn::parse2(item).ok()?;
    Some(ItemFn { attrs, vis, modifiers, sig, block: parse_quote!({}) })
}

/// The `CudaBody`, and the name of the function in the image. Returns `None` for a kernel without an image.
pub(super) fn body(
    options: &ImageOptions,
    kernel: &Ident,
    arguments: &[Argument],
    has_host_body: bool,
) -> Option<(TokenStream, TokenStream)> {
    let (_, image) = options.image.as_ref()?;
    let code = image.as_ref().map_or_else(|| quote!(b""), bytes);
    let file = match image {
        Some(Expr::Lit(literal)) if matches!(literal.lit, Lit::Str(_)) => literal.to_token_stream(),
        other => spelled_tokens(other.to_token_stream()).to_token_stream(),
    };
    let has_pointers = options.has_pointers();
    let params = arguments.iter().flat_map(|argument| params(argument, has_pointers));
    let body = quote! {
        ::streamflow::__private::CudaBody::Image(&::streamflow::__private::EmbeddedImage {
            file: #file,
            code: #code,
            params: &[#(#params,)*],
            has_host_body: #has_host_body,
        })
    };
    Some((body, options.entry_name(kernel)))
}

/// An expression for the bytes of the image: those of a file whose path is a literal, `concat!(…)` or `env!(…)`, or of another
/// expression.
fn bytes(image: &Expr) -> TokenStream {
    let is_path = match image {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Str(_)),
        Expr::Macro(call) => ["concat", "env"].iter().any(|name| call.mac.path.is_ident(name)),
        _ => false,
    };
    let (first, _) = first_and_last(image);
    if is_path {
        quote_spanned!(first=> ::core::include_bytes!(#image))
    } else {
        image.to_token_stream()
    }
}

/// The parameters of an argument, each with its name and its size.
fn params(Argument { ident, kind }: &Argument, has_pointers: bool) -> Vec<TokenStream> {
    let name = ident.unraw().to_string();
    let eight = |name: String| quote!((#name, 8));
    match kind {
        ArgumentKind::Slice(_) | ArgumentKind::SliceMut(_) => {
            let len = (!has_pointers).then(|| eight(format!("{name}.len()")));
            [eight(name)].into_iter().chain(len).collect()
        }
        ArgumentKind::View(_, rank) | ArgumentKind::ViewMut(_, rank) => {
            let numbers = ["shape", "strides"].into_iter().flat_map(|what| {
                let name = &name;
                (0..*rank).map(move |dim| eight(format!("{name}.{what}()[{dim}]")))
            });
            [eight(name.clone())].into_iter().chain(numbers).collect()
        }
        ArgumentKind::Scalar(ty) => {
            vec![quote_spanned!(ty.span()=> (#name, ::core::mem::size_of::<#ty>()))]
        }
        ArgumentKind::Wrong(_) => Vec::new(),
    }
}

fn is_slice(argument: &Argument) -> bool {
    matches!(argument.kind, ArgumentKind::Slice(_) | ArgumentKind::SliceMut(_))
}

/// The code that passes the arguments with addresses alone. The lengths follow after all parameters of the function: CUDA does not
/// read them, and the body for the simulator does.
pub(super) fn pass_pointers(arguments: &[Argument], to: &Ident) -> TokenStream {
    let lens = Ident::new("__lens", Span::mixed_site());
    let slices: Vec<&Ident> =
        arguments.iter().filter(|argument| is_slice(argument)).map(|slice| &slice.ident).collect();
    let passes = arguments.iter().map(|Argument { ident, kind }| {
        let name = ident.unraw().to_string();
        match kind {
            ArgumentKind::Slice(_) => quote!(#to.read_address(#name, #ident);),
            ArgumentKind::SliceMut(_) => quote!(#to.write_address(#name, #ident);),
            _ => quote!(#to.scalar(#ident);),
        }
    });
    quote! {
        let #lens = [#(#slices.len() as ::core::primitive::u64,)*];
        #(#passes)*
        for #lens in #lens {
            #to.scalar(#lens);
        }
    }
}

/// The arguments of the user's function on the simulator, as [`pass_pointers`] has passed them.
pub(super) fn host_arguments(arguments: &[Argument], args: &Ident) -> Vec<TokenStream> {
    let mut len_at = arguments.len();
    let one = |(at, argument): (usize, &Argument)| {
        let at = Literal::usize_suffixed(at);
        if !is_slice(argument) {
            return quote!(::streamflow::__private::scalar(&#args, #at));
        }
        let len = Literal::usize_suffixed(len_at);
        len_at += 1;
        match argument.kind {
            ArgumentKind::SliceMut(_) => {
                quote!(::streamflow::__private::slice_mut_of(&#args, [#at, #len]))
            }
            _ => quote!(::streamflow::__private::slice_of(&#args, [#at, #len])),
        }
    };
    arguments.iter().enumerate().map(one).collect()
}
