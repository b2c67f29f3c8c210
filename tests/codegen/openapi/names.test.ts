import { camel, docstring, kebab, pascal, toStringLiteral } from '../../../src/codegen/openapi/names.js';

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
