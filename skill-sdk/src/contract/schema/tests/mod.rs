//! Tests of schemas.

mod types;

use super::*;
use types::*;

#[test]
fn dump() {
    macro_rules! show { ($($t:ty),* $(,)?) => { $(
        match inputs::<$t>() { Ok(s) => println!("IN {} {}", stringify!($t), serde_json::to_string(&s).unwrap()), Err(e) => println!("IN {} ERR {e}  [{}]", stringify!($t), e.pointer) }
        match outputs::<$t>() { Ok(s) => println!("OUT {} {:?} {}", stringify!($t), s.shape, serde_json::to_string(&s.schema).unwrap()), Err(e) => println!("OUT {} ERR {e}", stringify!($t)) }
    )* } }
    show!(Nothing, Unit, (), Meters, Through, Documented, Order, Visit, List, Tree, Colour, Urgency, Shape, Event, Strict, Adjacent, Either, EitherAny,
      Closed, Flat, FlatEnum, FlatShape, FlatMaybe, Renamed, Defaults, AllDefault, Skips, With, Anys, Maps, Sets, Pages, Borrowed, Loop, Ping, Expr, Never, HasNever, FlatClosed, ClosedFlat, SameName,
      Field<(u64, i64, usize, i128, u128)>, Field<Option<std::net::IpAddr>>, Field<Named>, Value, serde_json::Map<String, Value>, Option<Address>, Vec<u8>, Field<Pair>, Field<std::num::NonZeroI8>, Field<Option<Urgency>>, Field<Result<u8, String>>);
}
