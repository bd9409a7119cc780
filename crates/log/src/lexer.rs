//! From a statement's text to its template and the constants in it.
//!
//! Enters: the text of a simple query or of a prepared statement. Leaves: [`Scanned`]: the text with
//! one mark for each constant, without comments and with single blanks, and the constants' values.
//! Never: parses: it tells apart what PostgreSQL's lexer does, and leaves a constant in its place
//! where the grammar takes nothing else (`ORDER BY 1`, `numeric(10,2)`, `interval '1' day`).
//!
//! A typed constant, `date '2020-01-01'`, becomes `CAST($1 AS date)`, where a parameter may stand.

/// Stands for a constant in a template; control characters of a text become blanks.
pub(crate) const MARK: u8 = 1;

/// What a value is, in the tables of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    Null = 0,
    Number = 1,
    Text = 2,
    Bool = 3,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Constant {
    pub(crate) tag: Tag,
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

/// A text as it was scanned; used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) template: Vec<u8>,
    pub(crate) constants: Vec<Constant>,
    /// The constants' values, one after another.
    pub(crate) values: Vec<u8>,
    /// Where statements end: the length of the template and the number of constants before each
    /// `;` that another statement follows.
    pub(crate) ends: Vec<(usize, usize)>,
    /// The highest `$n`.
    pub(crate) parameters: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    /// A word: where it lies in the template.
    Word(usize, usize),
    /// A constant, parameter or closing bracket: what a sign after it subtracts from.
    Operand,
    Closed,
    Opened,
    Comma,
    Equal,
    Other,
}

/// After these words an expression stands, so a text after them is no typed constant.
const BEFORE_EXPRESSIONS: &[&str] = &[
    "all",
    "and",
    "any",
    "array",
    "as",
    "asymmetric",
    "between",
    "by",
    "call",
    "case",
    "check",
    "default",
    "distinct",
    "else",
    "end",
    "escape",
    "except",
    "execute",
    "fetch",
    "filter",
    "first",
    "for",
    "from",
    "having",
    "ilike",
    "in",
    "intersect",
    "into",
    "is",
    "isnull",
    "lateral",
    "leading",
    "like",
    "limit",
    "next",
    "not",
    "notnull",
    "of",
    "offset",
    "on",
    "or",
    "overlaps",
    "password",
    "placing",
    "return",
    "returning",
    "row",
    "select",
    "set",
    "similar",
    "some",
    "symmetric",
    "then",
    "to",
    "trailing",
    "both",
    "union",
    "until",
    "using",
    "values",
    "when",
    "where",
    "with",
    "zone",
    "notify",
    "comment",
    "value",
    "passing",
];
const TYPES_WITH_MODIFIERS: &[&str] = &[
    "bit",
    "bpchar",
    "char",
    "character",
    "decimal",
    "float",
    "interval",
    "numeric",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "varbit",
    "varchar",
    "varying",
];
const FIELDS_OF_INTERVALS: &[&str] = &["day", "hour", "minute", "month", "second", "year"];
const ENDS_OF_LISTS: &[&str] = &[
    "except",
    "fetch",
    "for",
    "having",
    "intersect",
    "limit",
    "offset",
    "order",
    "range",
    "returning",
    "rows",
    "union",
    "where",
    "window",
];

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    out: &'a mut Scanned,
    before: Before,
    /// The word before an opening bracket before this place.
    opened_by: Option<(usize, usize)>,
    /// In the brackets of a type: `numeric(10,2)`.
    in_modifiers: bool,
    /// In the list of GROUP BY or ORDER BY.
    in_list: bool,
    square: usize,
    open: usize,
    pending_end: bool,
}

/// Scans `text` into `out`, whose former content goes.
pub(crate) fn scan(text: &[u8], out: &mut Scanned) {
    out.template.clear();
    out.constants.clear();
    out.values.clear();
    out.ends.clear();
    out.parameters = 0;
    let mut scanner = Scanner {
        text,
        at: 0,
        out,
        before: Before::Start,
        opened_by: None,
        in_modifiers: false,
        in_list: false,
        square: 0,
        open: 0,
        pending_end: false,
    };
    scanner.run();
    let kept = scanner.out.template.trim_ascii_end().len();
    scanner.out.template.truncate(kept);
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        while self.at < self.text.len() {
            let byte = self.text[self.at];
            match byte {
                0..=b' ' => {
                    self.blank();
                    self.at += 1;
                }
                b'-' if self.peek(1) == b'-' => {
                    let end = memchr::memchr(b'\n', &self.text[self.at..]);
                    self.at = end.map_or(self.text.len(), |end| self.at + end);
                    self.blank();
                }
                b'/' if self.peek(1) == b'*' => self.comment(),
                _ => {
                    self.begin_statement(byte);
                    self.token(byte);
                }
            }
        }
    }

    fn blank(&mut self) {
        if self.out.template.last().is_some_and(|last| *last != b' ') {
            self.out.template.push(b' ');
        }
    }

    /// What follows a `;` makes it one between statements.
    fn begin_statement(&mut self, byte: u8) {
        if self.pending_end && byte != b';' {
            self.pending_end = false;
            let kept = self.out.template.trim_ascii_end().len();
            self.out.template.truncate(kept);
            self.out.ends.push((kept, self.out.constants.len()));
            self.out.template.extend_from_slice(b"; ");
            self.before = Before::Start;
        }
    }

    /// Comments nest; hints of extensions, `/*+ … */`, are kept.
    fn comment(&mut self) {
        let begin = self.at;
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        break;
                    }
                }
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        self.blank();
        let comment = &self.text[begin..end];
        if comment.starts_with(b"/*+") {
            self.out.template.extend_from_slice(comment);
            self.out.template.push(b' ');
        }
    }

    fn token(&mut self, byte: u8) {
        match byte {
            b'\'' => self.quoted(self.at, false),
            b'"' => self.identifier(),
            b'$' if self.peek(1).is_ascii_digit() => self.parameter(),
            b'$' => self.dollar_quoted(),
            b'0'..=b'9' => self.number(self.at),
            b'.' if self.peek(1).is_ascii_digit() && self.before != Before::Operand => {
                self.number(self.at);
            }
            b'-' if self.peek(1).is_ascii_digit() && self.signs() => {
                let begin = self.at;
                self.at += 1;
                self.number(begin);
            }
            b';' => {
                self.at += 1;
                if self.open == 0 {
                    self.pending_end = !self.out.template.is_empty();
                } else {
                    self.push(b';', Before::Other);
                }
            }
            _ if is_word_start(byte) => self.word(),
            _ => self.sign(byte),
        }
    }

    fn push(&mut self, byte: u8, before: Before) {
        self.out.template.push(byte);
        self.before = before;
    }

    fn sign(&mut self, byte: u8) {
        self.at += 1;
        match byte {
            b'(' => {
                let word = match self.before {
                    Before::Word(begin, end) => Some((begin, end)),
                    _ => None,
                };
                self.in_modifiers =
                    word.is_some_and(|word| self.is_one_of(word, TYPES_WITH_MODIFIERS));
                self.opened_by = word;
                self.in_list = false;
                self.open += 1;
                self.push(byte, Before::Opened);
            }
            b')' => {
                self.in_modifiers = false;
                self.in_list = false;
                self.open = self.open.saturating_sub(1);
                self.push(byte, Before::Closed);
            }
            b'[' => {
                self.square += 1;
                self.push(byte, Before::Opened);
            }
            b']' => {
                self.square = self.square.saturating_sub(1);
                self.push(byte, Before::Closed);
            }
            b',' => self.push(byte, Before::Comma),
            b'=' => self.push(byte, Before::Equal),
            _ => self.push(byte, Before::Other),
        }
    }

    /// Whether a minus is a number's sign.
    fn signs(&self) -> bool {
        match self.before {
            Before::Operand | Before::Closed => false,
            Before::Word(begin, end) => self.is_one_of((begin, end), BEFORE_EXPRESSIONS),
            _ => true,
        }
    }

    fn is_one_of(&self, (begin, end): (usize, usize), words: &[&str]) -> bool {
        let word = &self.out.template[begin..end];
        words
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    }

    fn word(&mut self) {
        let begin = self.at;
        let length = self.text[begin..]
            .iter()
            .take_while(|byte| is_word(**byte))
            .count();
        self.at += length;
        let word = &self.text[begin..self.at];
        if self.peek(0) == b'\'' && word.len() == 1 {
            match word[0] {
                b'e' | b'E' => return self.quoted(self.at, true),
                b'n' | b'N' => return self.quoted(self.at, false),
                b'b' | b'B' | b'x' | b'X' => return self.verbatim_string(begin),
                _ => {}
            }
        }
        if self.peek(0) == b'&' && self.peek(1) == b'\'' && word.eq_ignore_ascii_case(b"u") {
            self.at += 1;
            return self.verbatim_string(begin);
        }
        let tag = match word.len() {
            4 if word.eq_ignore_ascii_case(b"null") => Some(Tag::Null),
            4 if word.eq_ignore_ascii_case(b"true") => Some(Tag::Bool),
            5 if word.eq_ignore_ascii_case(b"false") => Some(Tag::Bool),
            _ => None,
        };
        let as_value = matches!(self.before, Before::Opened | Before::Comma | Before::Equal);
        if let (Some(tag), true) = (tag, as_value) {
            let at = self.out.values.len();
            if tag == Tag::Bool {
                self.out
                    .values
                    .extend(word.iter().map(u8::to_ascii_lowercase));
            }
            return self.mark(tag, at);
        }
        let place = self.out.template.len();
        self.out.template.extend_from_slice(word);
        let placed = (place, place + length);
        if self.is_one_of(placed, &["by"]) {
            self.in_list = true;
        } else if self.in_list && self.is_one_of(placed, ENDS_OF_LISTS) {
            self.in_list = false;
        }
        self.before = Before::Word(placed.0, placed.1);
    }

    fn identifier(&mut self) {
        let begin = self.at;
        self.at += 1;
        self.skip_quoted(b'"', false);
        let place = self.out.template.len();
        let name = self.text[begin..self.at].iter();
        self.out.template.extend(name.map(|byte| (*byte).max(b' ')));
        self.before = Before::Word(place, self.out.template.len());
    }

    /// Goes on behind the closing quote; two are one.
    fn skip_quoted(&mut self, quote: u8, escapes: bool) {
        while self.at < self.text.len() {
            let byte = self.text[self.at];
            self.at += 1;
            if escapes && byte == b'\\' {
                self.at += 1;
            } else if byte == quote {
                if self.peek(0) != quote {
                    break;
                }
                self.at += 1;
            }
        }
        self.at = self.at.min(self.text.len());
    }

    fn verbatim_string(&mut self, begin: usize) {
        self.at += 1;
        self.skip_quoted(b'\'', false);
        self.verbatim(begin);
    }

    fn verbatim(&mut self, begin: usize) {
        let text = self.text[begin..self.at].iter();
        self.out.template.extend(text.map(|byte| (*byte).max(b' ')));
        self.before = Before::Operand;
    }

    fn parameter(&mut self) {
        let begin = self.at;
        self.at += 1;
        let digits = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        self.at += digits.count();
        let number = std::str::from_utf8(&self.text[begin + 1..self.at]).ok();
        let number = number
            .and_then(|digits| digits.parse::<u16>().ok())
            .unwrap_or(0);
        self.out.parameters = self.out.parameters.max(usize::from(number));
        self.verbatim(begin);
    }

    fn dollar_quoted(&mut self) {
        let begin = self.at;
        let tag = self.text[begin + 1..]
            .iter()
            .take_while(|byte| is_word(**byte) && **byte != b'$');
        let tag_end = begin + 1 + tag.count();
        if self.text.get(tag_end) != Some(&b'$') {
            return self.sign(b'$');
        }
        let quote = &self.text[begin..=tag_end];
        let body = tag_end + 1;
        let length = memchr::memmem::find(&self.text[body..], quote);
        let end = length.map_or(self.text.len(), |length| body + length);
        self.at = (end + quote.len()).min(self.text.len());
        let place = self.out.values.len();
        self.out.values.extend_from_slice(&self.text[body..end]);
        self.text_constant(begin, place);
    }

    /// A string whose opening quote is at `quote`.
    fn quoted(&mut self, quote: usize, escapes: bool) {
        let begin = if escapes { quote - 1 } else { quote };
        self.at = quote + 1;
        self.skip_quoted(b'\'', escapes);
        let inner = &self.text[quote + 1..(self.at - 1).max(quote + 1)];
        let place = self.out.values.len();
        if escapes {
            unescape(inner, &mut self.out.values);
        } else {
            undouble(inner, &mut self.out.values);
        }
        self.text_constant(begin, place);
    }

    /// A text whose value begins at `place`; what stands before it may say that it is typed.
    fn text_constant(&mut self, begin: usize, place: usize) {
        let typed = match self.before {
            Before::Closed | Before::Operand => return self.leave(begin, place),
            Before::Opened if self.was_opened_by("extract") => return self.leave(begin, place),
            Before::Word(from, to) if !self.is_one_of((from, to), BEFORE_EXPRESSIONS) => (from, to),
            Before::Word(from, to) if self.is_one_of((from, to), &["zone"]) => {
                // AT TIME ZONE 'UTC', or timestamp with time zone '…'
                let words: &[u8] = &self.out.template[..from];
                let words = words.to_ascii_lowercase();
                if words.ends_with(b"with time ") || words.ends_with(b"without time ") {
                    return self.leave(begin, place);
                }
                return self.mark(Tag::Text, place);
            }
            _ => return self.mark(Tag::Text, place),
        };
        let rest = self.text[self.at..].trim_ascii_start();
        let next: Vec<u8> = rest
            .iter()
            .copied()
            .take_while(|byte| is_word(*byte))
            .collect();
        if FIELDS_OF_INTERVALS
            .iter()
            .any(|field| next.eq_ignore_ascii_case(field.as_bytes()))
        {
            return self.leave(begin, place);
        }
        let mut from = typed.0;
        // pg_catalog.date '…'
        let is_of_name = |byte: &u8| is_word(*byte) || matches!(*byte, b'.' | b'"');
        while from > 0 && is_of_name(&self.out.template[from - 1]) {
            from -= 1;
        }
        let name = self.out.template[from..typed.1].to_vec();
        self.out.template.truncate(from);
        self.out.template.extend_from_slice(b"CAST(");
        self.mark(Tag::Text, place);
        self.out.template.extend_from_slice(b" AS ");
        self.out.template.extend_from_slice(&name);
        self.out.template.push(b')');
        self.before = Before::Closed;
    }

    fn was_opened_by(&self, word: &str) -> bool {
        self.opened_by
            .is_some_and(|place| self.is_one_of(place, &[word]))
    }

    /// A constant stays in its place.
    fn leave(&mut self, begin: usize, place: usize) {
        self.out.values.truncate(place);
        self.verbatim(begin);
    }

    fn number(&mut self, begin: usize) {
        let rest = &self.text[self.at..];
        let of_number = |(index, byte): (usize, u8)| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'_')
                || (matches!(byte, b'+' | b'-')
                    && matches!(rest[index.saturating_sub(1)], b'e' | b'E')
                    && !rest.starts_with(b"0x"))
        };
        let length = rest
            .iter()
            .copied()
            .enumerate()
            .take_while(|pair| of_number(*pair))
            .count();
        let length = match memchr::memmem::find(&rest[..length], b"..") {
            Some(dots) => dots.max(1),
            None => length,
        };
        self.at += length;
        let next = self.text[self.at..].trim_ascii_start().first();
        let positional = self.in_list && matches!(self.before, Before::Comma | Before::Word(..));
        let in_slice = self.square > 0
            && (self.out.template.trim_ascii_end().ends_with(b":") || next == Some(&b':'));
        if self.in_modifiers || positional || in_slice {
            return self.verbatim(begin);
        }
        let place = self.out.values.len();
        self.out
            .values
            .extend_from_slice(&self.text[begin..self.at]);
        self.mark(Tag::Number, place);
    }

    fn mark(&mut self, tag: Tag, begin: usize) {
        let end = self.out.values.len();
        self.out.constants.push(Constant { tag, begin, end });
        self.push(MARK, Before::Operand);
    }
}

/// Two quotes are one.
pub(crate) fn undouble(text: &[u8], into: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\'', rest) {
        into.extend_from_slice(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    into.extend_from_slice(rest);
}

fn unescape(text: &[u8], into: &mut Vec<u8>) {
    let mut at = 0;
    let digits = |from: usize, most: usize, radix: u32| {
        let count = text[from.min(text.len())..]
            .iter()
            .take(most)
            .take_while(|byte| char::from(**byte).is_digit(radix))
            .count();
        let digits = std::str::from_utf8(&text[from.min(text.len())..][..count]).ok();
        let value = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok());
        (count, value)
    };
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte == b'\'' {
            into.push(byte);
            at += 1;
            continue;
        }
        if byte != b'\\' || at >= text.len() {
            into.push(byte);
            continue;
        }
        let escape = text[at];
        at += 1;
        match escape {
            b'b' => into.push(8),
            b'f' => into.push(12),
            b'n' => into.push(b'\n'),
            b'r' => into.push(b'\r'),
            b't' => into.push(b'\t'),
            b'0'..=b'7' => {
                let (count, value) = digits(at - 1, 3, 8);
                at += count - 1;
                into.push(value.unwrap_or(0) as u8);
            }
            b'x' | b'u' | b'U' => {
                let most = match escape {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let (count, value) = digits(at, most, 16);
                at += count;
                match (value, escape) {
                    (None, _) => into.push(escape),
                    (Some(value), b'x') => into.push(value as u8),
                    (Some(value), _) => {
                        let sign = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                        into.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
            }
            other => into.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, Vec<String>) {
        let mut scanned = Scanned::default();
        scan(text.as_bytes(), &mut scanned);
        let template = String::from_utf8_lossy(&scanned.template).replace('\u{1}', "?");
        let value = |constant: &Constant| {
            let text = &scanned.values[constant.begin..constant.end];
            String::from_utf8_lossy(text).into_owned()
        };
        (template, scanned.constants.iter().map(value).collect())
    }

    fn check(text: &str, template: &str, values: &[&str]) {
        let (found, constants) = of(text);
        assert_eq!(found, template, "{text}");
        assert_eq!(constants, values, "{text}");
    }

    #[test]
    fn constants_of_all_kinds_are_taken_out() {
        check(
            "SELECT  a FROM t\n WHERE b = 'it''s' ;",
            "SELECT a FROM t WHERE b = ?",
            &["it's"],
        );
        check(r"SELECT E'a\n\x41\u00e9\''", "SELECT ?", &["a\nAé'"]);
        check(
            "SELECT $$it's$$, $x$ $$ $x$",
            "SELECT ?, ?",
            &["it's", " $$ "],
        );
        check(
            "SELECT 1, 2.5e-3, .5, 0x1F, 1_000",
            "SELECT ?, ?, ?, ?, ?",
            &["1", "2.5e-3", ".5", "0x1F", "1_000"],
        );
        check(
            "VALUES (NULL, true, 'x')",
            "VALUES (?, ?, ?)",
            &["", "true", "x"],
        );
        check(
            "UPDATE t SET a = NULL WHERE b IS NULL",
            "UPDATE t SET a = ? WHERE b IS NULL",
            &[""],
        );
        check(
            "SELECT U&'\\0041', b'01', t1.c2",
            "SELECT U&'\\0041', b'01', t1.c2",
            &[],
        );
    }

    #[test]
    fn a_sign_belongs_to_a_number_where_nothing_stands_before_it() {
        check(
            "SELECT -1, a -2, (b)-3, c = -4",
            "SELECT ?, a -?, (b)-?, c = ?",
            &["-1", "2", "3", "-4"],
        );
        check(
            "SELECT 1-1 WHERE a >-5 AND -7 < b",
            "SELECT ?-? WHERE a >? AND ? < b",
            &["1", "1", "-5", "-7"],
        );
    }

    #[test]
    fn comments_go_and_hints_stay() {
        check(
            "/* a /* b */ 'c' */ SELECT 1 -- 'd'\n, 2",
            "SELECT ? , ?",
            &["1", "2"],
        );
        check(
            "/*+ SeqScan(t) */ SELECT 1",
            "/*+ SeqScan(t) */ SELECT ?",
            &["1"],
        );
    }

    #[test]
    fn typed_constants_become_casts_and_what_takes_no_parameter_stays() {
        check(
            "SELECT date '2020-01-01'",
            "SELECT CAST(? AS date)",
            &["2020-01-01"],
        );
        check(
            "SELECT interval '1' day, now()",
            "SELECT interval '1' day, now()",
            &[],
        );
        check(
            "SELECT a::numeric(10,2), 'x'::varchar(3)",
            "SELECT a::numeric(10,2), ?::varchar(3)",
            &["x"],
        );
        check(
            "SELECT a FROM t GROUP BY 1, 2 ORDER BY 1 LIMIT 5",
            "SELECT a FROM t GROUP BY 1, 2 ORDER BY 1 LIMIT ?",
            &["5"],
        );
        check("SELECT a[1:2], a[3]", "SELECT a[1:2], a[?]", &["3"]);
        check(
            "SELECT x AT TIME ZONE 'UTC'",
            "SELECT x AT TIME ZONE ?",
            &["UTC"],
        );
        check(
            "SELECT timestamp with time zone '2020-01-01'",
            "SELECT timestamp with time zone '2020-01-01'",
            &[],
        );
        check(
            "SELECT extract('year' from d)",
            "SELECT extract('year' from d)",
            &[],
        );
        check(
            "SELECT pg_catalog.date 'x', \"My\" 'y'",
            "SELECT CAST(? AS pg_catalog.date), CAST(? AS \"My\")",
            &["x", "y"],
        );
    }

    #[test]
    fn several_statements_are_told_apart() {
        let mut scanned = Scanned::default();
        scan(b"BEGIN; UPDATE t SET a = 1; COMMIT;", &mut scanned);
        assert_eq!(scanned.ends, [(5, 0), (25, 1)]);
        assert_eq!(scanned.template, b"BEGIN; UPDATE t SET a = \x01; COMMIT");
    }

    #[test]
    fn any_bytes_are_scanned() {
        let mut scanned = Scanned::default();
        for text in [
            "'",
            "E'\\",
            "$a$",
            "/*",
            "\"",
            "$",
            "1..2",
            "e'\\x'",
            "\u{0}\u{1}'\u{1}'",
            "-",
            "U&'",
        ] {
            scan(text.as_bytes(), &mut scanned);
            let marks = scanned
                .template
                .iter()
                .filter(|byte| **byte == MARK)
                .count();
            assert_eq!(marks, scanned.constants.len(), "{text}");
        }
    }
}
