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
}

/** Reads the code blocks of a page: those that begin with the path of a file, and commands. */
export async function readPage(page: string): Promise<Page> {
  const blocks = [...(await readFile(page, 'utf8')).matchAll(/^```(\w+)\n(.*?)^```$/gmsu)];
  const files = blocks.flatMap(([, , code = '']): PageFile[] => {
    const [, file] = /^(?:#|\/\/|\{#) (\S+\.(?:graphql|js|njk|ts|yaml))(?: #\})?\n/u.exec(code) ?? [];
    return file === undefined ? [] : [{ file, text: code.slice(code.indexOf('\n') + 1) }];
  });
  const commands = blocks.flatMap(([, language, code = '']) => (language === 'sh' ? code.trim().split('\n') : []));
  return { files, commands };
}
