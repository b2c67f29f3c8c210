import type { ScalarField } from '@trellis/core/record-types';
import { readEntries } from '../../../src/sources/content/read-entries.js';
import { toSlug, withSlugs } from '../../../src/sources/content/slugs.js';

test.each([
  ['posts/soup.md', ['posts/*.md'], 'soup'],
  ['posts/soup/index.md', ['posts/**/*.md'], 'soup'],
  ['posts/2026/a.b.mdx', ['posts/**/*.{md,mdx}'], '2026/a.b'],
  ['posts/index.md', ['posts/*.md'], ''],
  [`posts/${'é'.normalize('NFD')}.md`, ['posts/*.md'], 'é'.normalize('NFC')],
  ['posts/my-index.md', ['posts/*.md'], 'my-index'],
  ['index.md', ['*.md'], ''],
  ['posts/soup.md', ['**/*.md'], 'posts/soup'],
  ['posts/soup.md', ['posts/soup.md'], 'soup'],
  ['posts/soup.md', ['./posts/*.md'], 'soup'],
  ['posts/old/soup.md', ['posts/**/*.md', 'posts/old/*.json'], 'soup'],
  ['c++/notes/a.md', ['c++/notes/*.md'], 'a'],
  ['posts/soup.md', ['{posts,pages}/*.md'], 'posts/soup'],
  ['posts/soup.md', ['!drafts/*.md'], 'posts/soup'],
  // A glob may also contain the folders between the site and the source.
  ['soup.md', ['content/posts/*.md'], 'soup'],
  ['2026/soup.md', ['content/**/*.md'], '2026/soup'],
  ['2026/soup.md', ['content/posts/**/*.md'], '2026/soup'],
])('the slug of %s with %j is %j', (relativePath, globs, slug) => {
  const source = { workingDirectory: '/site', directory: '/site/content/posts' };
  expect(toSlug({ source, relativePath }, globs)).toBe(slug);
});

test('the slug of an entry of a data file is its id, as it is written', () => {
  const slug = { kind: 'scalar', name: 'slug', slug: true } as ScalarField;
  const table = { fields: [slug], source: { globs: ['tags.yaml'] } };
  const file = { source: { workingDirectory: '/site', directory: '/site' }, relativePath: 'tags.yaml' };
  const entries = readEntries('- id: 007\n- id: sea\n- slug: own\n  id: 1\n- name: none\n', 'yaml');
  expect(entries.map((entry) => withSlugs(table, entry, file).values.slug)).toEqual(['007', 'sea', 'own', 'tags']);
});
