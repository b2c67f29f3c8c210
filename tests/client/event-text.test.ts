import { findEnd, parseEvent } from '../../src/client/event-text.js';

test.each<[string, string, ReturnType<typeof parseEvent>]>([
  ['lines of data are joined', 'data: a\ndata:b\ndata\n\n', { data: 'a\nb\n' }],
  ['one space alone is cut', 'data:  a \n\n', { data: ' a ' }],
  ['a value may hold colons', 'id: a:b\n\n', { id: 'a:b' }],
  ['the last id counts', 'id: a\nid\n\n', { id: '' }],
  ['an id with NUL is none', 'id: a\0\n\n', {}],
  ['a wait in words is none', 'retry: soon\nretry: 1.5\n\n', {}],
  ['other fields are passed over', 'event: x\nfoo: y\ndata: 1\n\n', { data: '1' }],
])('%s', (_reason, text, fields) => {
  expect(parseEvent(text)).toEqual(fields);
});

test.each<[string, string, number]>([
  ['a blank line ends it', 'data: 1\n\ndata', 9],
  ['also after carriage returns', 'data: 1\r\n\r\ndata', 11],
  ['a return that may be half of a line end is waited for', 'data: 1\r\n\r', 0],
  ['the end of a line does not', 'data: 1\n', 0],
])('%s', (_reason, text, end) => {
  expect(findEnd(text)).toBe(end);
  for (let searched = 0; searched < text.length; searched += 1) {
    // What had come before was without an end of its own.
    if (findEnd(text.slice(0, searched)) === 0) expect(findEnd(text, searched)).toBe(end);
  }
});
