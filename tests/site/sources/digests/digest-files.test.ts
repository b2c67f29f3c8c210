import { createHash } from 'node:crypto';
import { createBatchDigester } from '@trellis/site/sources/digests/digest-files';
import { STAT_FIELDS } from '@trellis/site/sources/entries';
import { SiteFolder } from '../site-folder.js';

const MEGABYTE = 1024 * 1024;

let folder: SiteFolder;
beforeAll(() => {
  folder = new SiteFolder();
});
afterAll(() => folder.remove());

const unknown = (count: number): Float64Array => new Float64Array(count * 4).fill(NaN);

test('batch digester: stops after some megabytes of files with unknown sizes', () => {
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(5 * MEGABYTE));
  const paths = texts.map((text, index) => {
    folder.put(`large/${index}`, text);
    return `large/${index}`;
  });
  const result = createBatchDigester()({ root: folder.directory, paths, witnesses: unknown(3) });
  expect(result.digests).toEqual(texts.slice(0, 2).map((text) => createHash('md5').update(text).digest('hex')));
  expect(result.changed).toEqual([0, 1]);
  expect(result.numbers).toHaveLength(2 * STAT_FIELDS.length);
  expect(result.numbers[STAT_FIELDS.indexOf('size')]).toBe(5 * MEGABYTE);
});

test('batch digester: continues after a deleted file', () => {
  folder.put('there');
  const result = createBatchDigester()({ root: folder.directory, paths: ['gone', 'there'], witnesses: unknown(2) });
  expect(result.digests).toEqual(['', createHash('md5').update('there').digest('hex')]);
  expect(result.changed).toEqual([1]);
});
