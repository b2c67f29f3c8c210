/** Media types as contracts declare them. */

export const URLENCODED = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';

/** A declared media type, such as `text/plain; charset=utf-8` or the range `image/*`. */
export interface MediaType {
  /** The type without parameters, in lower case. */
  readonly essence: string;
  readonly isRange: boolean;
  /** The text after the essence; empty for none. */
  readonly parameters: string;
}

const PATTERN = /^((?:\*|[\w!#$&^.+-]+)\/(?:\*|[\w!#$&^.+-]+))\s*((?:;\s*[^;]+)*)$/;

/** Parses a media type or a media range. */
export function parseMediaType(text: string): MediaType | undefined {
  const [, essence = '', parameters = ''] = PATTERN.exec(text) ?? [];
  if (essence === '' || (essence.startsWith('*') && essence !== '*/*')) return undefined;
  return { essence: essence.toLowerCase(), isRange: essence.endsWith('*'), parameters };
}

/** Returns whether the parameters of a media type are absent or say UTF-8, the only charset of the server. */
export function isUtf8({ parameters }: MediaType): boolean {
  return /^(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i.test(parameters);
}

/** Returns the essence of a media type of JSON. */
export function findJsonType(text: string): string | undefined {
  const essence = parseMediaType(text)?.essence ?? '';
  return /^application\/(?:[\w.+-]+\+)?json$/.test(essence) ? essence : undefined;
}
