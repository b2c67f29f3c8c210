import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import express from 'express';
import type { RequestHandler } from 'express';
import mime from 'mime';

/** A year: the name changes with the content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The scripts and styles of the pages, held in memory. */
export interface Assets {
  /** The address of an asset, which names its content by a digest. Throws for a name that is none. */
  urlOf(name: string): string;
  readonly handler: RequestHandler;
}

interface Asset {
  readonly url: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * Reads the files once and serves them below `base`.
 *
 * @param files Paths by the name that a page calls them.
 */
export function loadAssets(base: string, files: Readonly<Record<string, string>>): Assets {
  const byName = new Map(Object.entries(files).map(([name, file]) => [name, loadAsset(base, name, file)]));
  const router = express.Router();
  for (const { url, type, bytes } of byName.values()) {
    router.get(url, (_request, response) => {
      response.set({ 'Content-Type': type, 'Cache-Control': IMMUTABLE }).send(bytes);
    });
  }
  return {
    handler: router,
    urlOf(name) {
      const asset = byName.get(name);
      if (!asset) throw new Error(`Expected the name of an asset; received "${name}".`);
      return asset.url;
    },
  };
}

function loadAsset(base: string, name: string, file: string): Asset {
  const bytes = readFileSync(file);
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const extension = extname(name);
  const url = `${base}/${name.slice(0, -extension.length)}-${digest}${extension}`;
  return { url, type: `${mime.getType(name) ?? 'application/octet-stream'}; charset=utf-8`, bytes };
}

/** Reads a page and puts addresses of assets where it says `{{name.extension}}`. */
export const loadPage = (file: string, assets: Assets): string =>
  readFileSync(file, 'utf8').replace(/\{\{([\w-]+\.\w+)\}\}/g, (_, name: string) => assets.urlOf(name));
