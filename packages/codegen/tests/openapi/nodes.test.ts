import { parseDocument } from 'yaml';
import type { Diagnostic } from '../../src/documents.js';
import { child, locateNode, parseSource } from '../../src/openapi/nodes.js';

/** Reads a document as the library with positions does. */
function readWithPositions(text: string): unknown {
  const document = parseDocument(text, { merge: true, resolveKnownTags: false });
  expect(document.errors).toEqual([]);
  return document.toJS();
}

test.each([
  ['null', 'a: [~, null, Null, NULL, nUll, "null"]\nb:\nc: # nothing'],
  ['booleans', 'a: [true, True, TRUE, tRue, false, yes, no, on, off, y, n]'],
  ['integers', 'a: [1, -1, +1, 007, 0o17, 0x1F, 0b11, 1_000, -0x1F, +0o7, 12345678901234567890, 1:30]'],
  ['other numbers', 'a: [1.5, .5, 5., 1e3, 1E-3, -.5e+2, .inf, -.Inf, .nan, 1_0.5, ., 1.2.3, 0.10]'],
  ['dates', 'a: [2026-11-24, 2026-11-24T05:00:00Z]'],
  ['keys that are not text', '200: a\n1.5: b\ntrue: c\n0x10: d\n1e3: e\n007: f\n'],
  ['empty keys', '~: a\nnested: { null: b }\n'],
  ['explicit keys', 'a:\n  ? b\n  : c\nd:\n  ?\n  : e\n'],
  ['patterns', "a: '^(?: [^\\s]+)*$'\n"],
  [
    'text in several lines',
    'a: |\n  one\n   two\n\n  three\n\nb: >-\n  one\n  two\n\n   three\nc: one\n  two\n\n  three\nd: "a\\\n  b"\n',
  ],
  ['escapes', "a: \"\\u00e9\\x41\\U0001F600\\ud83d\\ude00\\/\\e\\_\"\nb: 'it''s'\n"],
  ['JSON', '{"a": {"b": [1, "two", null, true]}, "c": "\\/\\u2028"}'],
  ['anchors', 'a: &one { x: 1 }\nb: *one\nc: { <<: *one, y: 2 }\n'],
  ['tags', 'a: !!str 5\nb: !!int "5"\n'],
  ['YAML 1.1', '%YAML 1.1\n---\na: [yes, 0o7, 1_000]\n'],
  ['line ends of Windows and a byte order mark', '\uFEFFa: one\r\n  two\r\nb: |\r\n  three\r\n'],
])('YAML: %s mean the same whether positions are read or not', (_name, text) => {
  const diagnostics: Diagnostic[] = [];
  const { value } = parseSource('a.yaml', text, diagnostics);
  expect(diagnostics).toEqual([]);
  expect(value).toEqual(readWithPositions(text));
});

test('parseSource: positions are read when a message needs them', () => {
  const root = parseSource('a.yaml', 'a:\n  - b: 1\n', []);
  expect(locateNode(child(child(child(root, 'a'), 0), 'b'))).toEqual({ file: 'a.yaml', line: 2, column: 8 });
});

test.each([
  ['that can be read', 257, { line: 1, column: 259 }],
  ['that cannot be read', 10_000, { line: 1 }],
])(
  'parseSource: values that are nested too deeply are reported with their file, at a depth %s',
  (_which, depth, at) => {
    const diagnostics: Diagnostic[] = [];
    const { value } = parseSource('a.yaml', `a: ${'['.repeat(depth)}${']'.repeat(depth)}`, diagnostics);
    expect(value).toBeUndefined();
    const message = 'Expected values nested at most 256 levels deep; received more levels.';
    expect(diagnostics).toEqual([expect.objectContaining({ file: 'a.yaml', message, ...at })]);
  },
);
