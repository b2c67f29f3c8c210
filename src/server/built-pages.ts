import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../core/errors.js';
import type { PageData } from '../web/page-data.js';
import { PAGE_MODULES } from './page-paths.js';
import type { PageRequest } from './page-data.js';
import { listPreloadTags } from './preload-tags.js';
import type { Manifest } from './preload-tags.js';
import { PRIVATE } from './headers.js';
import { Payload } from './payload.js';
import { sendPayload } from './send-payload.js';
import { serveAssets } from './static-assets.js';
import type { StaticAsset } from './static-assets.js';

/** Handlers that serve the pages that the bundler has built. */
export interface BuiltPages {
  /** Serves scripts and styles, whose names contain a digest of their content. */
  readonly assets: RequestHandler;
  /** Serves the document that all pages share, with preload tags for the files of the requested page. */
  readonly document: RequestHandler;
  /** Serves the document with the status 404 to browsers; other clients continue to the next handler. */
  readonly notFound: RequestHandler;
}

export interface BuiltPagesOptions {
  /** Returns the public origin. Called for each request, because it may depend on the port. */
  readonly origin: () => string;
  /** The running services. Pages of other services are hidden. */
  readonly services: readonly string[];
  /** The access to the site: `public`, `people` or `token`. */
  readonly siteAccess: string;
  /** The label of this server at the top of every page; '' for none. */
  readonly label: string;
  /** Returns the data embedded in the document; `undefined` if the page has to request the data itself. */
  readonly findPageData: (request: PageRequest) => Promise<PageData | undefined>;
}

/** Next to the built server, or in the output of the build if the server runs from its sources. */
const FOLDERS = ['../pages/', '../../dist/pages/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** Reads the pages once. If they have not been built, requests for them fail with `not_found`. */
export function loadBuiltPages({ origin, services, siteAccess, label, findPageData }: BuiltPagesOptions): BuiltPages {
  const folder = FOLDERS.find((path) => existsSync(`${path}index.html`));
  if (folder === undefined) return { assets: pass, document: throwNotBuilt, notFound: pass };
  const page = readFileSync(`${folder}index.html`, 'utf8')
    .replaceAll('{{services}}', services.join(' '))
    .replaceAll('{{siteAccess}}', siteAccess)
    // A replacement string would be searched for patterns such as `$&`.
    .replaceAll('{{label}}', () => escapeAttribute(label));
  const tagsFor = createTagLookup(folder, services);
  async function document(request: Request, response: Response): Promise<void> {
    const facts = await findPageData(request);
    const text = page
      .replaceAll('{{origin}}', origin())
      .replaceAll('{{facts}}', () => (facts === undefined ? '' : escapeAttribute(JSON.stringify(facts))))
      .replace('</head>', `${tagsFor(request.path)}</head>`);
    response.set('Cache-Control', PRIVATE).type('html');
    // Compression is safe: the document contains only names and settings of the user, no secret.
    await sendPayload(response, new Payload(text), { isCompressible: true, isConditional: false });
  }
  return {
    assets: serveAssets(readAssets(`${folder}assets/`)),
    document,
    notFound: (request, response, next) =>
      request.accepts(['json', 'html']) === 'html' ? document(request, response.status(404)) : next(),
  };
}

const pass: RequestHandler = (_request, _response, next) => next();

const escapeAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Creates a lookup of preload tags by path. Without the dashboard, the first page is the list of services. */
function createTagLookup(folder: string, services: readonly string[]): (path: string) => string {
  const manifest = JSON.parse(readFileSync(`${folder}manifest.json`, 'utf8')) as Manifest;
  const modules = services.includes('dashboard') ? PAGE_MODULES : { ...PAGE_MODULES, '/': PAGE_MODULES['/services'] };
  const tags = Object.entries(modules).map(([path, module = '']) => {
    return [path, listPreloadTags(manifest, module, '/pages/')] as const;
  });
  const byPath = new Map(tags);
  return (path) => byPath.get(path) ?? '';
}

function throwNotBuilt(): never {
  throw new AppError('not_found', 'The pages have not been built. Run "npm run build".');
}

const readAssets = (folder: string): StaticAsset[] =>
  readdirSync(folder).map((name) => ({ url: `/pages/assets/${name}`, bytes: readFileSync(folder + name) }));
