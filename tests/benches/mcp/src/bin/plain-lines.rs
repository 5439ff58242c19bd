//! The lower bound of calls over pipes: a loop that parses, calls and writes.

use std::io::{self, BufRead, BufReader, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use skill_sdk_bench_mcp::{Order, Quote, pin, quote};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    inputs: Order,
}

#[derive(Serialize)]
struct Response<'a> {
    id: &'a RawValue,
    outputs: Quote,
    cost: Option<u8>,
}

fn main() -> io::Result<()> {
    pin()?;
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = io::stdout().lock();
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let request: Request<'_> = serde_json::from_slice(&line)?;
        let answer = Response {
            id: request.id,
            outputs: quote(request.inputs),
            cost: None,
        };
        serde_json::to_writer(&mut answers, &answer)?;
        answers.push(b'\n');
        if !input.buffer().contains(&b'\n') {
            output.write_all(&answers)?;
            output.flush()?;
            answers.clear();
        }
    }
}
