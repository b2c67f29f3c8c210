import { join } from 'node:path';
import type { Config } from './config.js';
import { records } from './generated/site/records.js';
import { toImageFolder } from './images/store/files.js';
import { openImages } from './images/images.js';
import type { Images, ImagesOptions } from './images/images.js';
import { openScanTerminal } from './site/scan-terminal.js';
import { createImageSources } from './site/image-sources.js';
import type { ImageSources } from './site/image-sources.js';
import { openPublicFiles } from './site/public-files.js';
import type { PublicFiles } from './site/public-files.js';
import { openSite } from './site/site.js';
import type { Site, SiteWatchOptions } from './site/site.js';
import { formatWarnings } from './site/warnings.js';

/** The source images of a site, the images derived from them, and the public copies of files. */
export interface ImageService {
  readonly pictures: ImageSources;
  readonly images: Images;
  readonly publicFiles: PublicFiles;
  /** The folder of derived images. */
  readonly folder: string;
}

export interface SiteDataOptions {
  /** The folder of the site's records. Every process needs its own. */
  readonly recordsDirectory: string;
  /** The terminal that shows warnings and the progress of a long scan; absent for none. */
  readonly terminal?: NodeJS.WriteStream | undefined;
  /** Aborts a scan. */
  readonly signal?: AbortSignal | undefined;
  readonly watch?: SiteWatchOptions | undefined;
}

/** Opens the configured site and brings its records up to date. */
export async function openSiteFromConfig(
  { site, state, configFiles }: Pick<Config, 'configFiles' | 'site' | 'state'>,
  { recordsDirectory, terminal, signal, watch }: SiteDataOptions,
): Promise<Site> {
  const view = terminal && openScanTerminal(terminal);
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

/** Opens the images of a site. Several processes may share the images of one state folder. */
export function openImageService(
  { store, config: { pathPrefix } }: Site,
  { state, imagesQuota }: Pick<Config, 'state' | 'imagesQuota'>,
  options: Pick<ImagesOptions, 'linkKey' | 'onLink' | 'signer'>,
): ImageService {
  const pictures = createImageSources(store);
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
  return { pictures, images, publicFiles, folder: toImageFolder(state) };
}
