//! Reading a text along a plan.

use super::plan::{ANY, Array, Further, Node, NodeId, Object, Range, Types};
use super::string::Written;
use crate::contract::json;

/// `None`: not sure.
pub(super) type Sure = Option<()>;

/// How deep values may be nested: what the parser of values takes.
const MAX_DEPTH: usize = 127;

/// How many nodes may be open at the same time. A schema may refer to itself without reading on.
const MAX_OPEN: usize = 500;

/// How much of a text may be read again, as a multiple of its length: alternatives within alternatives would otherwise
/// cost time without bound.
const MAX_AGAIN: usize = 8;

/// Where in a text and how deep in a plan.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    nodes: &'a [Node],
    depth: usize,
    open: usize,
    /// How many bytes may be read again.
    again: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, nodes: &'a [Node]) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            nodes,
            depth: 0,
            open: 0,
            again: text.len().saturating_mul(MAX_AGAIN).saturating_add(1024),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Whether `byte` comes next; then it is read.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Whether nothing but space is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.space();
        self.at == self.bytes.len()
    }

    /// Reads an object that satisfies a node.
    pub(super) fn object_of(&mut self, node: NodeId) -> Sure {
        self.space();
        if self.peek() != Some(b'{') {
            return None;
        }
        self.value(node)
    }

    /// Reads a value that satisfies a node, without the space around it.
    pub(super) fn value(&mut self, node: NodeId) -> Sure {
        if self.open == MAX_OPEN {
            return None;
        }
        self.open += 1;
        let node = self.nodes.get(node)?;
        let sure = if node.further.is_empty() {
            self.plain(node)
        } else {
            self.with_further(node)
        };
        self.open -= 1;
        sure
    }

    /// What a node asks itself.
    #[inline]
    fn plain(&mut self, node: &'a Node) -> Sure {
        let choices = node.choices.as_ref();
        let sure = |sure: bool| sure.then_some(());
        match self.peek()? {
            b'"' => {
                sure(node.types.meets(Types::STRING))?;
                let written = self.string()?;
                check_string(node, written)
            }
            b'{' => {
                sure(node.types.meets(Types::OBJECT) && choices.is_none())?;
                self.nested(|reader| reader.object(node.object.as_ref()))
            }
            b'[' => {
                sure(node.types.meets(Types::ARRAY) && choices.is_none())?;
                self.nested(|reader| reader.array(node.array.as_ref()))
            }
            b'-' | b'0'..=b'9' => {
                let number = self.number()?;
                let (kind, chosen) = match &number {
                    super::number::Scanned::Integer(integer) => (
                        Types::INTEGER,
                        choices.is_none_or(|choices| choices.integers.contains(integer)),
                    ),
                    super::number::Scanned::Other(_) => (Types::FRACTION, choices.is_none()),
                };
                let within = node.bounds.as_ref().is_none_or(|bounds| bounds.hold(&number));
                sure(node.types.meets(kind) && chosen && within)
            }
            b't' => {
                self.word("true")?;
                sure(node.types.meets(Types::BOOLEAN) && choices.is_none_or(|choices| choices.yes))
            }
            b'f' => {
                self.word("false")?;
                sure(node.types.meets(Types::BOOLEAN) && choices.is_none_or(|choices| choices.no))
            }
            b'n' => {
                self.word("null")?;
                sure(node.types.meets(Types::NULL) && choices.is_none_or(|choices| choices.null))
            }
            _ => None,
        }
    }

    fn word(&mut self, word: &str) -> Sure {
        let found = self.bytes[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(())
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Sure) -> Sure {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.at += 1;
        read(self)?;
        self.depth -= 1;
        Some(())
    }

    fn object(&mut self, rules: Option<&'a Object>) -> Sure {
        let mut seen = 0;
        let mut count = 0;
        // The member of the rules that is expected next.
        let mut next = 0;
        self.space();
        if !self.take(b'}') {
            loop {
                let member = match rules {
                    Some(rules) => self.name(rules, &mut next, &mut seen)?,
                    None => self.free_name().map(|_| ANY)?,
                };
                count += 1;
                self.space();
                if !self.take(b':') {
                    return None;
                }
                self.space();
                self.value(member)?;
                self.space();
                if self.take(b',') {
                    self.space();
                } else if self.take(b'}') {
                    break;
                } else {
                    return None;
                }
            }
        }
        let Some(rules) = rules else {
            return Some(());
        };
        (seen & rules.required == rules.required && rules.size.holds(count)).then_some(())
    }

    /// Reads the name of a member; gives the node of its value.
    #[inline]
    fn name(&mut self, rules: &'a Object, next: &mut usize, seen: &mut u64) -> Option<NodeId> {
        let expected = rules.members.get(*next);
        if let Some(expected) =
            expected.filter(|member| self.bytes[self.at..].starts_with(member.quoted.as_bytes()))
        {
            self.at += expected.quoted.len();
            *next += 1;
            *seen |= expected.bit;
            return Some(expected.node);
        }
        let name = self.free_name()?.content()?;
        let Some(position) = rules.position(&name) else {
            return Some(rules.others);
        };
        *next = position + 1;
        let member = rules.members.get(position)?;
        *seen |= member.bit;
        Some(member.node)
    }

    /// Reads a name that is none of the private words of the JSON library.
    fn free_name(&mut self) -> Option<Written<'a>> {
        let name = self.string()?;
        (!json::is_reserved(&name.content()?)).then_some(name)
    }

    fn array(&mut self, rules: Option<&'a Array>) -> Sure {
        let mut count = 0;
        self.space();
        if !self.take(b']') {
            loop {
                let item = rules.map_or(ANY, |rules| rules.first.get(count).copied().unwrap_or(rules.rest));
                self.value(item)?;
                count += 1;
                self.space();
                if self.take(b',') {
                    self.space();
                } else if self.take(b']') {
                    break;
                } else {
                    return None;
                }
            }
        }
        rules.is_none_or(|rules| rules.size.holds(count)).then_some(())
    }

    /// What a node asks itself and besides. All of it reads the same value.
    fn with_further(&mut self, node: &'a Node) -> Sure {
        let start = self.at;
        let mut end = None;
        if !node.asks_nothing_itself() {
            self.plain(node)?;
            end = Some(self.at);
        }
        for further in &node.further {
            if let Some(end) = end {
                self.spend(end - start)?;
            }
            self.at = start;
            match further {
                Further::One(node) => self.value(*node)?,
                Further::AnyOf(nodes) => self.any_of(nodes)?,
                Further::Validator(validator) => {
                    if end.is_none() {
                        self.value(ANY)?;
                    } else {
                        self.at = end?;
                    }
                    let value = json::parse(self.bytes.get(start..self.at)?).ok()?;
                    validator.is_valid(&value).then_some(())?;
                }
            }
            end = Some(self.at);
        }
        Some(())
    }

    fn any_of(&mut self, nodes: &[NodeId]) -> Sure {
        let (start, depth, open) = (self.at, self.depth, self.open);
        for node in nodes {
            if self.value(*node).is_some() {
                return Some(());
            }
            self.spend(self.at - start)?;
            (self.at, self.depth, self.open) = (start, depth, open);
        }
        None
    }

    /// Counts what is read again.
    fn spend(&mut self, bytes: usize) -> Sure {
        self.again = self.again.checked_sub(bytes + 1)?;
        Some(())
    }
}

/// What a node asks of a string.
fn check_string(node: &Node, written: Written<'_>) -> Sure {
    if node.length != Range::ALL && !node.length.holds(written.length()?) {
        return None;
    }
    match &node.choices {
        None => Some(()),
        Some(choices) => {
            let content = written.content()?;
            choices
                .strings
                .iter()
                .any(|choice| **choice == *content)
                .then_some(())
        }
    }
}
