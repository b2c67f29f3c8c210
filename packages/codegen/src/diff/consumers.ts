import type { Location } from '../documents.js';

/** A program of the repository that may use a contract: its path and text. */
export type Program = readonly [file: string, text: string];

/**
 * Finds the lines that use an operation: that name its path as text, or import its function from generated code.
 *
 * @param path The path of the operation in the contract, such as `/notes/{id}`.
 */
export function findConsumers(programs: readonly Program[], { id, path }: { id: string; path: string }): Location[] {
  const texts = ["'", '"', '`'].map((quote) => `${quote}${path}${quote}`);
  return programs.flatMap(([file, text]) => {
    const imports = new RegExp(`import[^;]*\\b${id}\\b[^;]*/calls(?:\\.js)?['"]`).test(text);
    return text.split('\n').flatMap((line, index) => {
      const found = texts.map((one) => line.indexOf(one)).find((at) => at >= 0) ?? (imports ? findCall(line, id) : -1);
      return found < 0 ? [] : [{ file, line: index + 1, column: found + 1 }];
    });
  });
}

const findCall = (line: string, id: string): number => line.search(new RegExp(`\\b${id}(?:\\(|\\.)`));
