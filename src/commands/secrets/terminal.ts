/** The streams and the environment of a command; tests provide their own. */
export interface Terminal {
  readonly in: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly err: NodeJS.WritableStream;
  readonly env: Environment;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Treats an empty variable or option as unset. */
export const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
