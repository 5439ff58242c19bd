//! `Debug` for types that hold what must not be printed.

/// Implements `Debug` with the fields that may be shown. The others are left out.
macro_rules! debug_fields {
    ($type:ident { $($field:ident),* }) => {
        #[automatically_derived]
        impl ::std::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($field), &self.$field))*
                    .finish_non_exhaustive()
            }
        }
    };
}
