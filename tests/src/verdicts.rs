//! The skills of all examples, those of the recorded cases, and one skill for each type that the tests of schemas know.

use skill_sdk::skill;
use {
    claims as _, crm as _, everything_skills as _, git as _, hello as _, loader as _, skill_sdk_tests as _,
};

#[allow(dead_code, reason = "some types have no skill")]
#[path = "../../skill-sdk/contract/src/schema/tests/types.rs"]
mod types;

#[allow(clippy::wildcard_imports, reason = "nearly all types have a skill")]
use types::*;

macro_rules! skills {
    ($($name:ident $reference:literal $type:ty,)*) => { $(
        /// Gives its inputs.
        #[skill($reference, version = "1", side_effects = "none", risk = "low")]
        fn $name(inputs: $type) -> $type {
            inputs
        }
    )* };
}

skills! {
    address "type.address" Address,
    adjacent "type.adjacent" Field<Adjacent>,
    all_default "type.all_default" AllDefault,
    anys "type.anys" Anys,
    array "type.array" Field<[i8; 2]>,
    borrowed "type.borrowed" Borrowed,
    boolean "type.boolean" Field<bool>,
    character "type.character" Field<char>,
    closed "type.closed" Closed,
    colour "type.colour" Field<Colour>,
    defaults "unordered.defaults" Defaults,
    either "type.either" Field<Either>,
    either_any "type.either_any" Field<EitherAny>,
    event "type.event" Event,
    expression "type.expression" Expr,
    flat "type.flat" Flat,
    flat_enum "type.flat_enum" FlatEnum,
    flat_maybe "type.flat_maybe" FlatMaybe,
    flat_shape "type.flat_shape" FlatShape,
    float "type.float" Field<f64>,
    home "type.home" Home,
    list "type.list" List,
    maps "type.maps" Maps,
    mixed "type.mixed" Field<Mixed>,
    nested "type.nested" Nested,
    nothing "type.nothing" Nothing,
    order "type.order" Order,
    pages "type.pages" Pages,
    pair "type.pair" Field<Pair>,
    ping "type.ping" Ping,
    same_name "type.same_name" SameName,
    sets "type.sets" Sets,
    shape "type.shape" Field<Shape>,
    signed "type.signed" Field<i64>,
    signed_128 "type.signed_128" Field<i128>,
    strict "type.strict" Field<Strict>,
    tree "type.tree" Tree,
    unsigned "type.unsigned" Field<u64>,
    unsigned_128 "type.unsigned_128" Field<Option<u128>>,
    urgency "type.urgency" Field<Urgency>,
    visit "type.visit" Visit,
    with "type.with" With,
}
