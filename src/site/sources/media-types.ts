import mime from 'mime';

/** Where today's table has another name than the one that people's queries for the original were written with. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ['.js', 'application/javascript'],
  ['.mjs', 'application/javascript'],
  ['.sql', 'application/x-sql'],
]);

/** The media type of an extension such as `.md`, in any case; the content is not looked at. */
export function toMediaType(ext: string): string {
  return KEPT.get(ext.toLowerCase()) ?? mime.getType(ext) ?? 'application/octet-stream';
}
