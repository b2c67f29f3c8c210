/**
 * Checks comments, texts, contracts and documents for wording that CONTRIBUTING.md advises against.
 *
 * Usage: node --conditions=trellis-source --import tsx scripts/lint-words.ts [--list] [path…]
 *
 * A few matches are idiomatic, so the check passes up to MAX_PER_1000_WORDS. It lists the matches when it fails, or
 * with `--list`. A line that contains `check-words-ignore` is skipped; use it for quoted texts of others.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { parse } from '@babel/parser';
import { Lexer, Source, TokenKind } from 'graphql';
import { LineCounter, isScalar, parseAllDocuments, visit } from 'yaml';

/** The rate of well-kept libraries (luxon 0.20, sharp 0.25, commander 0.51), measured with the same patterns. */
const MAX_PER_1000_WORDS = 0.5;

/** What to write instead, and the wording that it replaces. Each pattern matches one line of prose. */
const PATTERNS: readonly (readonly [instead: string, pattern: RegExp])[] = [
  ['name the user, caller, client or process', /\b(?:who(?:m|so)?ever|nobody|somebody|anybody|everybody)\b/gi],
  [
    'use a noun: the value, the rows, the changes',
    /\b(?:of|by|from|to|with|for|in|than|and|or|as|but|beside|unless|until|on|at|that|is|are|does|do|gives?|keeps?|shows?|lists?|reads?|writes?|makes?|takes?|deletes?|removes?|leaves?|finds?|holds?) what (?!if\b|to do\b|happen)|(?:^|[.:;(|]\s+)what (?:is|was|are|were|has|had|have|comes|came|it|they|a|an|the|one|people|forges?|this|can|may|must|does|did)\b(?![^.;|]*\?)/gi,
  ],
  ['report, pass, state, notify or distinguish', /\b(?:tells?|told|telling)\b/gi],
  [
    'start with a subject and a verb',
    /(?:^|[.!?]\s+)(?:Of|By|Whom|Whose|To whom|To be|Such as|As \{@link|That of|Those of|Under which|With which|For which|From which)\b(?! (?:default|design|contrast|convention|course|itself))/g,
  ],
  [
    'is valid, validate or check',
    /\bstill (?:hold|holds|held)\b|\bholds? (?:for|until|once|no more|any ?more|good)\b|\b(?:that|it|link|token|session|credential|passkey|chain|name)s? (?:no longer )?holds?(?=[.,;:)]|$)|\bheld to\b|\bof (?:no )?use (?:any ?more|later)\b/g,
  ],
  ['fix or resolve', /\bmend(?:s|ed|ing)?\b/gi],
  [
    'again, during, your own, so that, rarely or also',
    /\b(?:anew|amid|oneself|one[’']s own|of one[’']s|whom|hence|thereof|whereof|lest|namesakes?|betimes|seldom|besides)\b/gi,
  ],
  ['continue or keep running', /\b(?:go(?:es)? on|went on|going on|goes its way)\b/gi],
  [
    'accept, undo, cancel, snooze, remove, build or return',
    /\b(?:tak(?:e|es|en|ing)|took) (?:up|back|in(?! turn| the))\b|\b(?:set|sets|setting) aside\b|\bput(?:s|ting)? (?:out|themselves|together)\b|\bgiv(?:e|es|en|ing) back\b|\bgave back\b/gi,
  ],
  ['automatically', /\bby (?:itself|themselves|ourselves|himself)\b/gi],
  [
    'different, changed or a new version',
    /\b(?:is|are|was|were|be|been|makes?|made|gets?|stays?) another\b|\banother (?:than|one)\b|\bof another\b/gi,
  ],
  [
    'is not a …, has no … or not found',
    /\b(?:is|are|was|were) none\b|\b(?:there is|there are) none\b|\bnone (?:such|came|is given)\b|\bnone of this name\b/gi,
  ],
  [
    'is not a …',
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b|fewer than\b|such\b|match\b|[\w-]+ (?:for|in|on|at|with|left)\b)[a-z]/gi,
  ],
  [
    'state it plainly: "No saved view named …"',
    /\b[Ee]xpected [^;.`]{3,140}; (?!received\b|got\b|found \S+\.?$|see\b)[a-z]/g,
  ],
  ['name the action and the object: "Merge #418?"', /\bReally\b[^.]*\?/g],
  [
    'is stored or is saved',
    /\b(?:is|are|was|were|be|been) kept\b(?! (?:for|until|open|in sync|up to date|in memory|running|short|small)\b)/gi,
  ],
  [
    'response, respond or return',
    /\b(?:the|an|its|each|every|one|whole|lost|first|same|this|that|their|HTTP|JSON|such) answers?\b|\banswer(?:s|ed)? (?:with|by|in|like|as|of|to)\b|\bis answered\b/gi,
  ],
  [
    'the result of, expired or was deleted',
    /\b(?:became|come|comes|came) of\b|\bnothing came\b|\bhad (?:its|their) time\b|\bhas gone\b|\bare gone\b|\bis gone\b/gi,
  ],
  [
    'the previous value',
    /\bthe (?:one|value|entry|board|object|page|version|ones|values) before\b(?! (?:the|a|an|it|this|that)\b)/gi,
  ],
  ['request, setting or intent', /\bwish(?:es|ed)?\b/gi],
  ['no longer', /\bno more(?=[.,;:)]|$)|\b(?:not|no|nor|n[’']t)\b[^.;:]{0,50} any more\b|\bis at (?:it|work)\b/gi],
  ['cannot', /\bcan not\b|\bas ever\b|\bso many (?:days|rows|hours)\b/gi],
  ['your own, our own', /\b(?:of|are|is) (?:yours|ours|mine|theirs|hers)\b/gi],
  ['the server, the codebase', /\bthe (?:whole )?house\b/gi],
];

const IGNORE = 'check-words-ignore';
const CHECKED = /\.(?:ts|tsx|js|css|md|graphql|yaml)$/;
const EXCLUDED = /^(?:src\/generated|examples|stand-ins|dist)\/|^scripts\/lint-words\.ts$/;

/** A piece of prose and the line, from 1, that it starts on. */
interface Piece {
  readonly line: number;
  readonly text: string;
}

const READERS: Readonly<Record<string, (text: string) => Iterable<Piece>>> = {
  '.ts': readCode,
  '.tsx': readCode,
  '.js': readCode,
  '.css': readCss,
  '.md': readMarkdown,
  '.graphql': readSdl,
  '.yaml': readYaml,
};

function main(): void {
  const args = process.argv.slice(2);
  const matches: string[] = [];
  let words = 0;
  for (const file of listFiles(args.filter((arg) => arg !== '--list'))) {
    const text = readFileSync(file, 'utf8');
    const lines = text.split('\n');
    for (const { line, text: prose } of readLines(READERS[extname(file)]?.(text) ?? [])) {
      if (lines[line - 1]?.includes(IGNORE)) continue;
      words += prose.match(/[A-Za-z][A-Za-z’'-]*/g)?.length ?? 0;
      for (const [instead, pattern] of PATTERNS) {
        for (const [match] of prose.matchAll(pattern)) matches.push(`${file}:${line}: "${match.trim()}": ${instead}`);
      }
    }
  }
  const rate = words === 0 ? 0 : (matches.length * 1000) / words;
  const passes = rate <= MAX_PER_1000_WORDS;
  if (!passes || args.includes('--list')) for (const match of matches) console.log(match);
  const limit = passes ? '' : `; expected at most ${MAX_PER_1000_WORDS}. CONTRIBUTING.md has the rules`;
  console.log(`${matches.length} matches in ${words} words, ${rate.toFixed(2)} per 1,000${limit}.`);
  process.exitCode = passes ? 0 : 1;
}

/** Lists the files of the repository, or those below the given paths, that contain prose. */
function listFiles(paths: readonly string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths]);
  return listed
    .toString()
    .split('\n')
    .filter((file) => CHECKED.test(file) && !EXCLUDED.test(file));
}

/** Splits pieces at line breaks, and removes inline code and URLs. */
function* readLines(pieces: Iterable<Piece>): Iterable<Piece> {
  for (const { line, text } of pieces) {
    for (const [offset, part] of text.split('\n').entries()) {
      const prose = part.replace(/`[^`]*`/g, '…').replace(/https?:\/\/\S+/g, '');
      yield { line: line + offset, text: prose.replace(/^\s*(?:\*+ ?)?|\s+$/g, '') };
    }
  }
}

/** Reads comments, texts of JSX, and strings with at least two words. */
function* readCode(text: string): Iterable<Piece> {
  const { tokens = [] } = parse(text, { sourceType: 'module', plugins: ['typescript', 'jsx'], tokens: true });
  for (const token of tokens as readonly Token[]) {
    const { type, value, loc } = token;
    const isComment = type === 'CommentBlock' || type === 'CommentLine';
    if (typeof value !== 'string') continue;
    if (isComment || isText(type, value)) yield { line: loc.start.line, text: value };
  }
}

interface Token {
  readonly type: string | { readonly label: string };
  readonly value: unknown;
  readonly loc: { readonly start: { readonly line: number } };
}

const TEXT_TOKENS = new Set(['string', 'template', 'jsxText']);
const SENTENCE = /[A-Za-z’]{2,}[,:;]? (?:[a-z]|["“'$…{-])/;
const SQL = /^\s*(?:select|insert|update|delete|create|alter|drop|with)\s/i;

const isText = (type: Token['type'], value: string) =>
  typeof type === 'object' && TEXT_TOKENS.has(type.label) && SENTENCE.test(value) && !SQL.test(value);

function* readCss(text: string): Iterable<Piece> {
  for (const match of text.matchAll(/\/\*([\s\S]*?)\*\//g)) {
    yield { line: lineAt(text, match.index), text: match[1] ?? '' };
  }
}

/** Reads Markdown without its code blocks, HTML tags and link targets. */
function* readMarkdown(text: string): Iterable<Piece> {
  let inCode = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) inCode = !inCode;
    else if (!inCode) yield { line: index + 1, text: line.replace(/<[^>]+>/g, ' ').replace(/\]\([^)]*\)/g, ']') };
  }
}

/** Reads descriptions and comments of SDL. */
function* readSdl(text: string): Iterable<Piece> {
  const lexer = new Lexer(new Source(text));
  const kinds: readonly TokenKind[] = [TokenKind.STRING, TokenKind.BLOCK_STRING, TokenKind.COMMENT];
  for (let token = lexer.token; token.kind !== TokenKind.EOF;) {
    // `lookahead` skips comments; the tokens themselves are linked through them.
    if (token.next === null) lexer.advance();
    token = token.next ?? lexer.token;
    if (kinds.includes(token.kind)) yield { line: token.line, text: token.value };
  }
}

const PROSE_KEYS: readonly unknown[] = ['description', 'summary', 'title'];

/** Reads descriptions, summaries, titles and comments of YAML. */
function* readYaml(text: string): Iterable<Piece> {
  const lineCounter = new LineCounter();
  const pieces: Piece[] = [];
  for (const document of parseAllDocuments(text, { lineCounter, keepSourceTokens: true })) {
    visit(document, {
      Pair(_, { key, value }) {
        if (!isScalar(key) || !PROSE_KEYS.includes(key.value) || !isScalar(value)) return;
        const [start = 0, end = 0] = value.range ?? [];
        pieces.push({ line: lineCounter.linePos(start).line, text: text.slice(start, end) });
      },
    });
  }
  yield* pieces;
  for (const [index, line] of text.split('\n').entries()) {
    const comment = /(?:^|\s)# (.*)$/.exec(line)?.[1];
    if (comment !== undefined) yield { line: index + 1, text: comment };
  }
}

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;

main();
