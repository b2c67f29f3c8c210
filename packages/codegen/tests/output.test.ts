import { camel, docstring, kebab, pascal, printLiteral, printModules, toStringLiteral } from '../src/output.js';

test.each([
  ['Audit log', 'AuditLog', 'auditLog', 'audit-log'],
  ['createToken', 'CreateToken', 'createToken', 'create-token'],
  ['Tokens', 'Tokens', 'tokens', 'tokens'],
])('"%s" is converted to the type name %s, the variable %s and the file name %s', (name, type, value, file) => {
  expect([pascal(name), camel(name), kebab(name)]).toEqual([type, value, file]);
});

test('toStringLiteral: returns a JavaScript literal of the same text', () => {
  expect(toStringLiteral(`it's "a" \\ \n`)).toBe(String.raw`'it\'s "a" \\ \n'`);
});

test('docstring: escapes the end of a comment in the text', () => {
  expect(docstring('Ends */ early')).toBe('/** Ends * / early */\n');
});

test.each([
  ['text', "it's \\", String.raw`'it\'s \\'`],
  ['a number, a boolean and null', [1, true, null], '[1, true, null]'],
  ['an empty list and an empty object', { a: [], b: {} }, '{ a: [], b: {} }'],
  ['keys that need quotes', { 'a.b': 1 }, "{ 'a.b': 1 }"],
  [
    'a long list with one line per item',
    ['x'.repeat(100), 'y'.repeat(100)],
    `[\n  '${'x'.repeat(100)}',\n  '${'y'.repeat(100)}',\n]`,
  ],
])('printLiteral: prints %s', (_reason, value, text) => {
  expect(printLiteral(value)).toBe(text);
});

test('printModules: prints one statement for each module', () => {
  const list = [
    ['#client', 'createClient', 'type Client'],
    ['./types.js', 'type Paths'],
    ['./nothing.js'],
    ['#client', 'readAll'],
    ['./types.js', 'type Page as Pages'],
  ] as const;
  expect(printModules('import', list)).toBe(
    "import { createClient, type Client, readAll } from '#client';\nimport type { Paths, Page as Pages } from './types.js';\n",
  );
  expect(printModules('export', list)).toMatch(/^export \{ .*\nexport type \{ /u);
});
