import { writeCookies, writeHeaders, writePath, writeQuery } from '../src/encoding.js';

/** The value and the texts of the table "Style Examples" of OpenAPI 3.1, with delimiters encoded. */
const LIST = ['blue', 'black', 'brown'];
const OBJECT = { R: 100, G: 200, B: 150 };

test.each([
  ['form', {}, LIST, 'color=blue&color=black&color=brown'],
  ['form, not exploded', { explode: false }, LIST, 'color=blue,black,brown'],
  ['form', {}, OBJECT, 'R=100&G=200&B=150'],
  ['form, not exploded', { explode: false }, OBJECT, 'color=R,100,G,200,B,150'],
  ['spaceDelimited', { style: 'spaceDelimited' } as const, LIST, 'color=blue%20black%20brown'],
  ['pipeDelimited', { style: 'pipeDelimited' } as const, LIST, 'color=blue%7Cblack%7Cbrown'],
  ['deepObject', { style: 'deepObject' } as const, OBJECT, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
  ['JSON', { isJson: true }, OBJECT, `color=${encodeURIComponent('{"R":100,"G":200,"B":150}')}`],
])('writeQuery writes the style %s', (_name, style, color, text) => {
  expect(writeQuery({ color }, { 'query color': style })).toBe(text);
});

test('writeQuery encodes names and values, and leaves out those that are absent', () => {
  const values = { 'a b': 'c&d', list: ['1,2', '3'], none: undefined, no: null };
  expect(writeQuery(values, { 'query list': { explode: false } })).toBe('a%20b=c%26d&list=1%2C2,3');
});

test.each([
  ['spaceDelimited', ' ', ['New York']],
  ['pipeDelimited', '|', ['a|b', 'c']],
  ['pipeDelimited', '|', { 'a|b': 1 }],
] as const)('writeQuery rejects an item with the delimiter of the style %s', (style, delimiter, color) => {
  const message = `Expected items of "color" without "${delimiter}", their delimiter.`;
  expect(() => writeQuery({ color }, { 'query color': { style } })).toThrow(new TypeError(message));
});

test('writePath encodes values, and separates the items of lists by commas', () => {
  const styles = { 'path color': { explode: true } };
  expect(writePath('/a/{id}/{color}/{list}', { id: 'x/y', color: OBJECT, list: ['a,b', 'c'] }, styles)).toBe(
    '/a/x%2Fy/R=100,G=200,B=150/a%2Cb,c',
  );
});

test('writeHeaders writes lists, objects and JSON without percent encoding', () => {
  const styles = { 'header x-json': { isJson: true } };
  const values = { 'X-List': ['a b', 'c'], 'X-Object': OBJECT, 'X-Json': OBJECT, 'X-None': undefined };
  expect(writeHeaders(values, styles)).toEqual({
    'X-List': 'a b,c',
    'X-Object': 'R,100,G,200,B,150',
    'X-Json': '{"R":100,"G":200,"B":150}',
  });
});

test.each([[['a,b', 'c']], [{ 'a,b': 1 }]])('writeHeaders rejects an item with a comma: %j', (value) => {
  const message = 'Expected items of "X-List" without ",", their delimiter.';
  expect(() => writeHeaders({ 'X-List': value }, {})).toThrow(new TypeError(message));
  expect(writeHeaders({ 'X-List': 'a,b' }, {})).toEqual({ 'X-List': 'a,b' });
});

test('writeCookies writes one header with encoded values', () => {
  expect(writeCookies({ theme: 'd;k', ids: [1, 2] }, {})).toBe('theme=d%3Bk; ids=1,2');
});
