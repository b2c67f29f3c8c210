import { readFile } from 'node:fs/promises';

/** A file that a page tells its reader to write. */
export interface PageFile {
  readonly file: string;
  readonly text: string;
}

export interface Page {
  readonly files: readonly PageFile[];
  /** The commands, one for each line. */
  readonly commands: readonly string[];
  /** The files and commands in the order of the page. */
  readonly steps: readonly (PageFile | string)[];
  /** The queries that the reader tries, which are in no file. */
  readonly queries: readonly string[];
}

/** Reads the code blocks of a page: those that begin with the path of a file, and commands. */
export async function readPage(page: string): Promise<Page> {
  const blocks = [...(await readFile(page, 'utf8')).matchAll(/^```(\w+)\n(.*?)^```$/gmsu)];
  const steps = blocks.flatMap(([, language, code = '']): (PageFile | string)[] => {
    const [, file] = /^(?:#|\/\/|\{#) (\S+\.(?:graphql|js|njk|ts|yaml))(?: #\})?\n/u.exec(code) ?? [];
    if (file !== undefined) return [{ file, text: code.slice(code.indexOf('\n') + 1) }];
    return language === 'sh' ? code.trim().split('\n') : [];
  });
  const files = steps.filter((step) => typeof step !== 'string');
  const commands = steps.filter((step) => typeof step === 'string');
  const queries = blocks.flatMap(([, language, code = '']) =>
    language === 'graphql' && !code.startsWith('#') ? [code] : [],
  );
  return { files, commands, steps, queries };
}
