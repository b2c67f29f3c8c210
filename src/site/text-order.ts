/**
 * SQLite compares text by code point, but the documented order is by UTF-16 code unit. The two differ only between a
 * character beyond U+FFFF (two surrogates, from U+D800) and one from U+E000 to U+FFFF, so the exact but slower
 * comparison is needed only for text with surrogates.
 */
const SURROGATE = /[\uD800-\uDFFF]/;

export const hasNonBmp = (text: string): boolean => SURROGATE.test(text);

/**
 * Returns bytes that sort like the text's UTF-16 code units. The leading unit avoids an empty blob, which would be
 * NULL.
 */
export const toCodeUnits = (text: string): Uint8Array => Buffer.from(`\0${text}`, 'utf16le').swap16();
