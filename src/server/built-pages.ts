import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../errors.js';
import type { PageFacts } from '../web/page-facts.js';
import { PAGE_MODULES } from './page-paths.js';
import type { PageRequest } from './page-facts.js';
import { listPageParts } from './page-parts.js';
import type { Manifest } from './page-parts.js';
import { PRIVATE } from './headers.js';
import { Payload } from './payload.js';
import { sendPayload } from './send-payload.js';
import { serveAssets } from './static-assets.js';
import type { StaticAsset } from './static-assets.js';

/** What the bundler made of the pages. */
export interface BuiltPages {
  /** Scripts and styles, whose names hold a digest of their content. */
  readonly assets: RequestHandler;
  /** The document that every page begins as; it says which files the page that is asked for is made of. */
  readonly document: RequestHandler;
  /** The same, where nothing is: for whoever wants a page to look at, and nobody else. */
  readonly nowhere: RequestHandler;
}

export interface BuiltPagesOptions {
  /** The origin that people use, asked at each request as it may depend on the port taken. */
  readonly origin: () => string;
  /** The services that run: the pages of others are not shown. */
  readonly services: readonly string[];
  /** Who may read the site: `public`, `people` or `token`. */
  readonly siteAccess: string;
  /** What tells this server from others, at the top of every page; '' for nothing. */
  readonly label: string;
  /** What the page would ask at once of whoever opens it; `undefined` where it has to ask. */
  readonly findFacts: (request: PageRequest) => Promise<PageFacts | undefined>;
}

/** Beside the built server, or where the build puts them when the server runs from its sources. */
const FOLDERS = ['../pages/', '../../dist/pages/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** Reads the pages once. Without any, as before a build, they say so when they are asked for. */
export function loadBuiltPages({ origin, services, siteAccess, label, findFacts }: BuiltPagesOptions): BuiltPages {
  const folder = FOLDERS.find((path) => existsSync(`${path}index.html`));
  if (folder === undefined) return { assets: pass, document: refuse, nowhere: pass };
  const page = readFileSync(`${folder}index.html`, 'utf8')
    .replaceAll('{{services}}', services.join(' '))
    .replaceAll('{{siteAccess}}', siteAccess)
    // By a function, which is not searched for patterns such as `$&`.
    .replaceAll('{{label}}', () => escapeAttribute(label));
  const partsOf = findParts(folder, services);
  async function document(request: Request, response: Response): Promise<void> {
    const facts = await findFacts(request);
    const text = page
      .replaceAll('{{origin}}', origin())
      .replaceAll('{{facts}}', () => (facts === undefined ? '' : escapeAttribute(JSON.stringify(facts))))
      .replace('</head>', `${partsOf(request.path)}</head>`);
    response.set('Cache-Control', PRIVATE).type('html');
    // It has no secret, only names and settings of the user.
    await sendPayload(response, new Payload(text), { isCompressible: true, isConditional: false });
  }
  return {
    assets: serveAssets(readAssets(`${folder}assets/`)),
    document,
    nowhere: (request, response, next) =>
      request.accepts(['json', 'html']) === 'html' ? document(request, response.status(404)) : next(),
  };
}

const pass: RequestHandler = (_request, _response, next) => next();

const escapeAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Without the dashboard, the first page is the list of services. */
function findParts(folder: string, services: readonly string[]): (path: string) => string {
  const manifest = JSON.parse(readFileSync(`${folder}manifest.json`, 'utf8')) as Manifest;
  const modules = services.includes('dashboard') ? PAGE_MODULES : { ...PAGE_MODULES, '/': PAGE_MODULES['/services'] };
  const parts = Object.entries(modules).map(([path, module = '']) => {
    return [path, listPageParts(manifest, module, '/pages/')] as const;
  });
  const byPath = new Map(parts);
  return (path) => byPath.get(path) ?? '';
}

function refuse(): never {
  throw new AppError('not_found', 'The pages are not built; "npm run build" makes them.');
}

const readAssets = (folder: string): StaticAsset[] =>
  readdirSync(folder).map((name) => ({ url: `/pages/assets/${name}`, bytes: readFileSync(folder + name) }));
