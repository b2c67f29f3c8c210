import { createLog } from '../../src/http/request.js';

test.each([
  ['at the top', { authorization: 'S3CRET', cookie: 'S3CRET', 'set-cookie': 'S3CRET' }],
  ['among headers', { headers: { authorization: 'S3CRET', cookie: 'S3CRET', 'set-cookie': ['S3CRET'] } }],
  ['in a request', { req: { headers: { authorization: 'S3CRET', cookie: 'S3CRET' } } }],
])('log: redacts credentials %s', (_place, fields) => {
  let written = '';
  createLog({ level: 'info', destination: { write: (line) => (written += line) } }).info(fields);
  expect(written).toContain('[redacted]');
  expect(written).not.toContain('S3CRET');
});

test('log: omits lines below its level', () => {
  let written = '';
  createLog({ level: 'warn', destination: { write: (line) => (written += line) } }).info('hello');
  expect(written).toBe('');
});
