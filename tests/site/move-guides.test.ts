import { readFile } from 'node:fs/promises';
import { deriveFullSchema } from '@trellis/codegen/site/load-schema';
import { parse, validate } from 'graphql';
import { type FormRow, readFormRows } from '../project/form-rows.js';
import { createListErrors, readCommonDocuments } from './form-errors.js';

interface Guide {
  readonly page: string;
  readonly headings: readonly [fields: string, queries: string, selections: string];
  /** The types that its queries read. */
  readonly schema: string;
}

const GUIDES: readonly Guide[] = [
  {
    page: 'docs/astro.md',
    headings: ['Collections and fields', 'Queries', 'Fields of an entry'],
    schema: `
      type Post implements Node @record @source(glob: "blog/**/*.{md,mdx}") {
        slug: String! @slug title: String! pubDate: Date! @dateformat heroImage: File @link body: String
        content: Markdown @markdown draft: Boolean published: Boolean tags: [String!]! author: Author @link(to: "slug") }
      type Author implements Node @record @source(glob: "authors.json") { slug: String! @slug name: String! }`,
  },
  {
    page: 'docs/hugo.md',
    headings: ['Front matter and fields', 'Queries', 'Fields of a page'],
    schema: `
      type Post implements Node @record @source(glob: "posts/**/[^_]*.md") {
        slug: String! @slug title: String! date: Date! @dateformat draft: Boolean weight: Int series: String tags: [String!]!
        featured_image: File @link body: String content: Markdown @markdown }
      type Author implements Node @record @source(glob: "authors/*.toml") { slug: String! @slug name: String! }`,
  },
];

const listErrors = await createListErrors({
  Author: 'type Author implements Node @record { slug: String! name: String }',
  Post: 'type Post implements Node @record { slug: String! author: Author @link(to: "slug") }',
});
const common = await readCommonDocuments();
const formsOf = (rows: readonly FormRow[]): readonly string[] => rows.flatMap(({ trellis }) => trellis);

for (const guide of GUIDES) {
  const page = await readFile(guide.page, 'utf8');
  const [fields, queries, selections] = guide.headings.map((heading) => formsOf(readFormRows(page, heading)));

  describe(guide.page, () => {
    const written = (fields ?? []).filter((form) => / |:/u.test(form));
    const asked = (queries ?? []).filter((form) => form.includes('{')).map((form) => `{ ${form} }`);
    const selected = (selections ?? []).map((form) => `{ allPost { nodes { ${form} } } }`);

    test('has tables of fields and queries', () => {
      expect([written.length > 15, asked.length > 9, selected.length > 9]).toEqual([true, true, true]);
    });

    test.each(written)('the field or type of Trellis is valid: %s', (form) => {
      const slug = form.startsWith('slug:') ? '' : 'slug: String! @slug';
      const post = `type Post implements Node @record @source(glob: "blog/*.md") { ${slug} ${form} }`;
      expect(listErrors(form.startsWith('type ') ? form : post)).toEqual([]);
    });

    const schema = deriveFullSchema(new Map([...common, ['own.graphql', guide.schema]]));

    test.each([...asked, ...selected])('the query of Trellis is valid: %s', (query) => {
      expect(validate(schema, parse(query)).map(({ message }) => message)).toEqual([]);
    });
  });
}
