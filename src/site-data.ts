import { join } from 'node:path';
import type { Config } from './config.js';
import { records } from './generated/site/records.js';
import { imageFolderOf } from './images/image-files.js';
import { openImages } from './images/images.js';
import type { Images, ImagesOptions } from './images/images.js';
import { openCrawlTerminal } from './site/crawl-terminal.js';
import { createPictures } from './site/pictures.js';
import type { Pictures } from './site/pictures.js';
import { openPublicFiles } from './site/public-files.js';
import type { PublicFiles } from './site/public-files.js';
import { openSite } from './site/site.js';
import type { Site, SiteWatch } from './site/site.js';
import { formatWarnings } from './site/warnings.js';

/** The pictures of a site, the images that are derived from them, and the copies of files that are served. */
export interface Imaging {
  readonly pictures: Pictures;
  readonly images: Images;
  readonly publicFiles: PublicFiles;
  /** Where images are once they are made. */
  readonly folder: string;
}

export interface SiteDataOptions {
  /** Where the site's records are: of each process that reads the site, a folder of its own. */
  readonly recordsDirectory: string;
  /** Where warnings and the progress of a long crawl are shown; absent, nowhere. */
  readonly terminal?: NodeJS.WriteStream | undefined;
  /** Ends a crawl. */
  readonly signal?: AbortSignal | undefined;
  readonly watch?: SiteWatch | undefined;
}

/** Brings the records of the configured site up to date. */
export async function openConfiguredSite(
  { site, state, configFiles }: Pick<Config, 'configFiles' | 'site' | 'state'>,
  { recordsDirectory, terminal, signal, watch }: SiteDataOptions,
): Promise<Site> {
  const view = terminal && openCrawlTerminal(terminal);
  try {
    return await openSite({
      directory: site,
      stateDirectory: recordsDirectory,
      except: [state, ...configFiles],
      tables: records,
      onWarnings: (messages, count) => terminal?.write(formatWarnings(messages, count)),
      onProgress: (progress) => view?.show(progress),
      signal,
      watch,
    });
  } finally {
    view?.stop();
  }
}

/** Several processes may have the images of one state folder open. */
export function openImaging(
  { store, config: { pathPrefix } }: Site,
  { state, imagesQuota }: Pick<Config, 'state' | 'imagesQuota'>,
  options: Pick<ImagesOptions, 'linkKey' | 'onLink' | 'signer'>,
): Imaging {
  const pictures = createPictures(store);
  const images = openImages({
    stateDirectory: state,
    findSource: pictures.find,
    prefix: pathPrefix,
    quotaBytes: imagesQuota,
    ...options,
  });
  const publicFiles = openPublicFiles({
    directory: join(state, 'public'),
    pathPrefix,
    quota: images.quota,
    findFile: pictures.find,
    signer: options.signer,
  });
  return { pictures, images, publicFiles, folder: imageFolderOf(state) };
}
