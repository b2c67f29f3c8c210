import type { Images } from '../images/images.js';
import type { ImageSource } from '../images/source.js';
import type { ComputedValues } from '../site/computed-values.js';
import type { FormatDate } from '../site/dates.js';
import type { Pictures } from '../site/pictures.js';
import type { PublicFiles } from '../site/public-files.js';
import type { Meter, RecordQueries } from '../site/record-queries.js';
import { computedValues } from './computed-values.js';
import { createLoader } from './loader.js';
import type { Load } from './loader.js';
import type { ImagePolicy } from './stored-arguments.js';

/** The services of the site that resolvers use. */
export interface SiteServices {
  readonly records: RecordQueries;
  readonly publicFiles: Pick<PublicFiles, 'linkTo' | 'pathOf'>;
  readonly pictures: Pick<Pictures, 'findAll' | 'known'>;
  readonly images: Pick<Images, 'original' | 'answer' | 'peek'>;
  /** Determines the allowed arguments of image fields. */
  readonly imagePolicy: ImagePolicy;
  readonly formatDate: FormatDate;
}

/** The remaining work and response size of one request. All methods throw when a limit is exceeded. */
export interface Budget extends Meter {
  /** Whether a limit has been exceeded. */
  readonly isOver: boolean;
  /** Counts the values in a part of the response. */
  spend(values: number): void;
  /** Does the same as {@link Meter.work}, but lets other requests run first if this one has used much time. */
  workInTurn<T>(piece: () => T): T | Promise<T>;
}

/** The context of one request, which all its resolvers receive. */
export interface SiteContext extends SiteServices {
  readonly budget: Budget;
  /** Loads the file of an image by the file's id. */
  readonly loadPicture: Load<string, ImageSource>;
  /** The values of computed fields for filters and sorting. */
  readonly computed: ComputedValues;
}

export const createSiteContext = (services: SiteServices, budget: Budget): SiteContext =>
  new RequestContext(services, budget);

/** Creates its loaders on first use, as most requests load no image and compute nothing. */
class RequestContext implements SiteContext {
  readonly records: SiteServices['records'];
  readonly publicFiles: SiteServices['publicFiles'];
  readonly pictures: SiteServices['pictures'];
  readonly images: SiteServices['images'];
  readonly imagePolicy: ImagePolicy;
  readonly formatDate: SiteServices['formatDate'];
  readonly budget: Budget;
  #loadPicture: SiteContext['loadPicture'] | undefined;
  #computed: ComputedValues | undefined;

  constructor({ records, publicFiles, pictures, images, imagePolicy, formatDate }: SiteServices, budget: Budget) {
    this.records = records;
    this.publicFiles = publicFiles;
    this.pictures = pictures;
    this.images = images;
    this.imagePolicy = imagePolicy;
    this.formatDate = formatDate;
    this.budget = budget;
  }

  get loadPicture(): SiteContext['loadPicture'] {
    return (this.#loadPicture ??= createLoader((ids: readonly string[]) => this.pictures.findAll(ids)));
  }

  get computed(): ComputedValues {
    return (this.#computed ??= computedValues(this));
  }
}
