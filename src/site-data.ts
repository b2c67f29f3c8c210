import type { Config } from './config.js';
import { records } from './generated/site/records.js';
import { imageFolderOf, openImages } from './images/images.js';
import type { Images, ImagesOptions } from './images/images.js';
import { openCrawlTerminal } from './site/crawl-terminal.js';
import { createPictures } from './site/pictures.js';
import type { Pictures } from './site/pictures.js';
import { openSite } from './site/site.js';
import type { Site, SiteWatch } from './site/site.js';
import { formatWarnings } from './site/warnings.js';

/** The pictures of a site, and the images that are made of them. */
export interface Imaging {
  readonly pictures: Pictures;
  readonly images: Images;
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
  { site, state }: Pick<Config, 'site' | 'state'>,
  { recordsDirectory, terminal, signal, watch }: SiteDataOptions,
): Promise<Site> {
  const view = terminal && openCrawlTerminal(terminal);
  try {
    return await openSite({
      directory: site,
      stateDirectory: recordsDirectory,
      except: [state],
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
  { state }: Pick<Config, 'state'>,
  onHandOut?: ImagesOptions['onHandOut'],
): Imaging {
  const pictures = createPictures(store);
  const images = openImages({ stateDirectory: state, findSource: pictures.find, prefix: pathPrefix, onHandOut });
  return { pictures, images, folder: imageFolderOf(state) };
}
