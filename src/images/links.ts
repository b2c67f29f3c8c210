import { createHmac, timingSafeEqual } from 'node:crypto';
import { findOutputFormat } from './formats.js';
import { decode } from './original.js';
import { formatRecipeText, parseRecipeText } from './recipe-text.js';
import type { Recipe } from './recipe.js';

/** An image that can be derived: a source by its bytes, and how it is transformed. */
export interface DerivedImage {
  readonly contentDigest: string;
  readonly recipe: Recipe;
}

interface ImageName {
  /** The source's name without its extension: for people, it decides nothing. */
  readonly name: string;
  /** The image's extension, without a dot. */
  readonly extension: string;
}

/**
 * Links that carry their recipe and a signature of it, so that any link can be
 * followed at any time, and only those that this site issued.
 */
export interface Links {
  /** The path below `/static`: `/<content digest>/<signature>_<recipe>/<percent-encoded name>.<extension>`. */
  format(image: DerivedImage & ImageName): string;
  /** The inverse; `undefined` for a path that is no image link or was not issued with this key. */
  parse(path: string): (DerivedImage & ImageName) | undefined;
}

/** 96 bits in base64url: a guess is an HTTP request. */
const SIGNATURE_LENGTH = 16;

const LINK = new RegExp(`^/([0-9a-f]{32})/([\\w-]{${SIGNATURE_LENGTH}})_([\\w.-]{1,200})/([^/?]+)\\.([a-z]+)$`, 'u');

/** @param key At least 32 random bytes; other keys make other links. */
export function createLinks(key: Uint8Array): Links {
  const sign = (text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH);

  return {
    format({ contentDigest, recipe, name, extension }) {
      const text = formatRecipeText(recipe);
      const signature = sign(`${contentDigest}/${recipe.format}/${text}`);
      return `/${contentDigest}/${signature}_${text}/${encodeURIComponent(name)}.${extension}`;
    },
    parse(path) {
      const [, contentDigest = '', signature = '', text = '', encodedName = '', extension = ''] = LINK.exec(path) ?? [];
      const format = findOutputFormat(extension);
      const name = decode(encodedName);
      if (format === undefined || !name) return undefined;
      const expected = sign(`${contentDigest}/${format}/${text}`);
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined;
      return { contentDigest, recipe: parseRecipeText(text, format), name, extension };
    },
  };
}
