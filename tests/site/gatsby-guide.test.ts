import { readFile } from 'node:fs/promises';
import { ContractError } from '@trellis/codegen/documents';
import { deriveFullSchema } from '@trellis/codegen/site/load-schema';
import { readFormRows } from '../project/gatsby.js';

const DOCUMENTS = ['directives', 'file', 'image', 'node', 'site'];
const common = await Promise.all(
  DOCUMENTS.map(async (name) => [`schema/${name}.graphql`, await readFile(`schema/${name}.graphql`, 'utf8')] as const),
);
const rows = readFormRows(await readFile('docs/gatsby.md', 'utf8'), 'Types and directives');

/** Types that forms refer to. */
const OTHERS = {
  Author: 'type Author implements Node @record { email: String }',
  Post: 'type Post implements Node @record { author: Author @link(to: "email") }',
};

/** Lists the errors in a form, together with the types that it refers to and does not define. */
function listErrors(form: string): readonly string[] {
  const others = Object.entries(OTHERS).filter(([name]) => !new RegExp(`(?<!extend )type ${name}\\b`, 'u').test(form));
  try {
    deriveFullSchema(new Map([...common, ['own.graphql', [form, ...others.map(([, text]) => text)].join('\n')]]));
    return [];
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return error.diagnostics.map(({ message }) => message);
  }
}

const isDefinition = (form: string): boolean => /^(?:extend |interface |type )/u.test(form);

test('docs/gatsby.md has a table of types', () => {
  expect(rows.length).toBeGreaterThan(10);
});

test.each(rows.flatMap(({ gatsby }) => gatsby.filter(isDefinition)))('the type of Gatsby is an error: %s', (form) => {
  expect(listErrors(form)).not.toEqual([]);
});

test.each(rows.flatMap(({ trellis }) => trellis.filter(isDefinition)))('the type of Trellis is valid: %s', (form) => {
  expect(listErrors(form)).toEqual([]);
});
