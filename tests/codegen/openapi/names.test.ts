import { camel, docstring, kebab, pascal, quote } from '../../../src/codegen/openapi/names.js';

test.each([
  ['Audit log', 'AuditLog', 'auditLog', 'audit-log'],
  ['createToken', 'CreateToken', 'createToken', 'create-token'],
  ['Tokens', 'Tokens', 'tokens', 'tokens'],
])('"%s" becomes the type %s, the value %s and the file %s', (name, type, value, file) => {
  expect([pascal(name), camel(name), kebab(name)]).toEqual([type, value, file]);
});

test('a quoted text is the same text to JavaScript', () => {
  expect(quote(`it's "a" \\ \n`)).toBe(String.raw`'it\'s "a" \\ \n'`);
});

test('a docstring cannot be ended by its text', () => {
  expect(docstring('Ends */ early')).toBe('/** Ends * / early */\n');
});
