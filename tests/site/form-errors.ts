/** Checks the types that a guide shows. */
import { readFile } from 'node:fs/promises';
import { ContractError } from '@trellis/codegen/documents';
import { deriveFullSchema } from '@trellis/codegen/site/load-schema';

const DOCUMENTS = ['directives', 'file', 'image', 'node', 'site'];

type ListErrors = (form: string) => readonly string[];

/** Returns the documents that every site has, by their paths. */
export const readCommonDocuments = async (): Promise<readonly (readonly [string, string])[]> =>
  Promise.all(
    DOCUMENTS.map(
      async (name) => [`schema/${name}.graphql`, await readFile(`schema/${name}.graphql`, 'utf8')] as const,
    ),
  );

/**
 * Returns a function that lists the errors in a form, together with the types that it refers to and does not define.
 *
 * @param others The definitions of these types by their names.
 */
export async function createListErrors(others: Readonly<Record<string, string>>): Promise<ListErrors> {
  const common = await readCommonDocuments();
  return (form) => {
    const used = Object.entries(others).filter(([name]) => !new RegExp(`(?<!extend )type ${name}\\b`, 'u').test(form));
    try {
      deriveFullSchema(new Map([...common, ['own.graphql', [form, ...used.map(([, text]) => text)].join('\n')]]));
      return [];
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      return error.diagnostics.map(({ message }) => message);
    }
  };
}
