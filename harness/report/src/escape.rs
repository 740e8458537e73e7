//! Escapes foreign text for Markdown, CSV and LaTeX. The libraries that write HTML and SVG escape it themselves.

use std::borrow::Cow;

use gpbench_record::text;

/// Escapes a line of text for a paragraph, cell or heading of Markdown: it forms no link, image, tag, code or emphasis.
pub fn markdown(text: &str) -> String {
    const MARKS: &str = "\\`*[]<>|~$&";
    let text = text::line(text);
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // Within a word, an underscore is not emphasis.
        let is_within = |c: &char| c.is_alphanumeric();
        let is_emphasis = c == '_' && !(is_within(&before) && rest.peek().is_some_and(is_within));
        if MARKS.contains(c) || is_emphasis {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

/// Escapes a line of text at the beginning of a Markdown block: it forms no heading, list or rule either.
pub(crate) fn markdown_block(text: &str) -> String {
    let text = markdown(text.trim_start());
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match text[digits..].chars().next() {
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        Some('#' | '-' | '+' | '=' | '_' | ':') if digits == 0 => format!("\\{text}"),
        _ => text,
    }
}

/// A Markdown code block, with a fence longer than any run of backticks in the text.
pub(crate) fn markdown_code(code: &str) -> String {
    let runs = code.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(3) + 1);
    format!("{fence}text\n{code}\n{fence}\n")
}

/// Escapes a cell of words for CSV. Spreadsheets evaluate a cell that begins with `=`, `+`, `-` or `@` as a formula; a leading
/// apostrophe marks it as text. Not for cells of numbers.
pub(crate) fn csv_words(words: &str) -> Cow<'_, str> {
    match words.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
        true => Cow::Owned(format!("'{words}")),
        false => Cow::Borrowed(words),
    }
}

/// Escapes a line of text for LaTeX: it forms no command, and symbols that pdfLaTeX does not know are commands.
pub fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text::line(text).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            _ => match SYMBOLS.iter().find(|(symbol, _)| *symbol == c) {
                Some((_, command)) => out.push_str(command),
                None => out.push(c),
            },
        }
    }
    out
}

/// Characters for which LaTeX has commands.
const SYMBOLS: [(char, &str); 30] = [
    ('\\', r"\textbackslash{}"),
    ('~', r"\textasciitilde{}"),
    ('^', r"\textasciicircum{}"),
    ('<', r"\textless{}"),
    ('>', r"\textgreater{}"),
    ('|', r"\textbar{}"),
    ('"', "''"),
    ('†', r"\textdagger{}"),
    ('‡', r"\textdaggerdbl{}"),
    ('…', r"\dots{}"),
    ('×', r"$\times$"),
    ('±', r"$\pm$"),
    ('−', r"$-$"),
    ('·', r"$\cdot$"),
    ('≤', r"$\le$"),
    ('≥', r"$\ge$"),
    ('→', r"$\to$"),
    ('√', r"$\surd$"),
    ('∞', r"$\infty$"),
    ('‖', r"$\|$"),
    ('²', r"$^2$"),
    ('³', r"$^3$"),
    ('⁻', r"$^{-}$"),
    ('¹', r"$^1$"),
    ('½', r"$\frac12$"),
    ('ᵀ', r"$^\top$"),
    ('θ', r"$\theta$"),
    ('σ', r"$\sigma$"),
    ('κ', r"$\kappa$"),
    ('μ', r"$\mu$"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_markdown_are_escaped() {
        for (text, escaped) in [
            ("![x](http://a)", r"!\[x\](http://a)"),
            ("[x](javascript:alert(1))", r"\[x\](javascript:alert(1))"),
            ("<script>&lt;", r"\<script\>\&lt;"),
            ("a|b\nc", r"a\|b c"),
            ("```` `x` \\`", r"\`\`\`\` \`x\` \\\`"),
            ("*a* _b_ snake_case ~~c~~ $d$", r"\*a\* \_b\_ snake_case \~\~c\~\~ \$d\$"),
            ("-0.5 ± 0.1", "-0.5 ± 0.1"),
        ] {
            assert_eq!(markdown(text), escaped);
        }
    }

    #[test]
    fn a_paragraph_begins_no_block() {
        for (text, escaped) in [
            ("# a", r"\# a"),
            ("- a", r"\- a"),
            ("   ---", r"\---"),
            ("12. a", r"12\. a"),
            ("2) a", r"2\) a"),
            ("===", r"\==="),
            ("> a", r"\> a"),
            ("2022, a", "2022, a"),
        ] {
            assert_eq!(markdown_block(text), escaped);
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(markdown_code("a"), "````text\na\n````\n");
        assert_eq!(markdown_code("``````\n# a"), "```````text\n``````\n# a\n```````\n");
    }

    #[test]
    fn text_forms_no_command_of_latex() {
        for (text, escaped) in [
            (r"a_b & 5 % of $x #1 {y}", r"a\_b \& 5 \% of \$x \#1 \{y\}"),
            (r"\input{a}~^", r"\textbackslash{}input\{a\}\textasciitilde{}\textasciicircum{}"),
            ("2.9× ± 1\n† ‡", r"2.9$\times$ $\pm$ 1 \textdagger{} \textdaggerdbl{}"),
            ("n² kernel entries, naïve", r"n$^2$ kernel entries, naïve"),
            ("exact yᵀH⁻¹y", r"exact y$^\top$H$^{-}$$^1$y"),
        ] {
            assert_eq!(latex(text), escaped);
        }
    }

    #[test]
    fn words_are_no_formula() {
        for words in ["=1+1", "+1", "-cmd|' /C calc'!A0", "@SUM(A1)", " =1", "\t=1", "＝1"] {
            assert_eq!(csv_words(words), format!("'{words}"));
        }
        assert_eq!(csv_words("cg-2 (a = b)"), "cg-2 (a = b)");
    }
}
