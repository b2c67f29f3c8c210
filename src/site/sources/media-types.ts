import mime from 'mime';

/** Media types that differ from those of Gatsby, which existing queries compare with. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ['.js', 'application/javascript'],
  ['.mjs', 'application/javascript'],
  ['.sql', 'application/x-sql'],
]);

/** Returns the media type of an extension such as `.md`, ignoring case. The content is not checked. */
export function toMediaType(ext: string): string {
  return KEPT.get(ext.toLowerCase()) ?? mime.getType(ext) ?? 'application/octet-stream';
}
