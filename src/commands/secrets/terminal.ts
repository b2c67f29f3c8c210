/** Where a command reads, writes and looks for settings; the process's own, or a test's. */
export interface Terminal {
  readonly in: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly err: NodeJS.WritableStream;
  readonly env: Environment;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable or an option that is set to nothing counts as none. */
export const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
