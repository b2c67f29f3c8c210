/**
 * SQLite compares text by code point, the documented order is by UTF-16 code
 * unit. The two differ only where a character beyond U+FFFF (two surrogates,
 * from U+D800) meets one from U+E000 to U+FFFF, so the exact and slower
 * comparison is needed only where such a character takes part.
 */
const SURROGATE = /[\uD800-\uDFFF]/;

export const hasAstral = (text: string): boolean => SURROGATE.test(text);

/** Bytes whose order is that of the text's UTF-16 code units; one unit goes before all, for an empty blob would be NULL. */
export const codeUnits = (text: string): Uint8Array => Buffer.from(`\0${text}`, 'utf16le').swap16();
