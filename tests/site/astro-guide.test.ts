import { readFile } from 'node:fs/promises';
import { deriveFullSchema } from '@trellis/codegen/site/load-schema';
import { parse, validate } from 'graphql';
import { type FormRow, readFormRows } from '../project/form-rows.js';
import { createListErrors, readCommonDocuments } from './form-errors.js';

const page = await readFile('docs/astro.md', 'utf8');
const listErrors = await createListErrors({
  Author: 'type Author implements Node @record { slug: String! name: String }',
  Post: 'type Post implements Node @record { slug: String! author: Author @link(to: "slug") }',
});

const formsOf = (rows: readonly FormRow[]): readonly string[] => rows.flatMap(({ trellis }) => trellis);
const fields = formsOf(readFormRows(page, 'Collections and fields')).filter((form) => / |:/u.test(form));

test('docs/astro.md has a table of fields', () => {
  expect(fields.length).toBeGreaterThan(15);
});

test.each(fields)('the field or type of Trellis is valid: %s', (form) => {
  const slug = form.startsWith('slug:') ? '' : 'slug: String! @slug';
  const post = `type Post implements Node @record @source(glob: "blog/*.md") { ${slug} ${form} }`;
  expect(listErrors(form.startsWith('type ') ? form : post)).toEqual([]);
});

/** The fields that the queries of the page select. */
const BLOG = `
  type Post implements Node @record @source(glob: "blog/**/*.{md,mdx}") {
    slug: String! @slug title: String! pubDate: Date! @dateformat heroImage: File @link body: String content: Markdown @markdown
    draft: Boolean published: Boolean tags: [String!]! author: Author @link(to: "slug") }
  type Author implements Node @record @source(glob: "authors.json") { slug: String! @slug name: String! }`;

const schema = deriveFullSchema(new Map([...(await readCommonDocuments()), ['own.graphql', BLOG]]));
const queries = formsOf(readFormRows(page, 'Queries')).filter((form) => form.includes('{'));
const selections = formsOf(readFormRows(page, 'Fields of an entry'));

test('docs/astro.md has tables of queries', () => {
  expect([queries.length > 9, selections.length > 9]).toEqual([true, true]);
});

test.each([...queries.map((form) => `{ ${form} }`), ...selections.map((form) => `{ allPost { nodes { ${form} } } }`)])(
  'the query of Trellis is valid: %s',
  (query) => {
    expect(validate(schema, parse(query)).map(({ message }) => message)).toEqual([]);
  },
);
