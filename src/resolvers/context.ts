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

/** The parts of the site that resolvers call. */
export interface SiteServices {
  readonly records: RecordQueries;
  readonly publicFiles: Pick<PublicFiles, 'linkTo' | 'pathOf'>;
  readonly pictures: Pick<Pictures, 'findAll' | 'known'>;
  readonly images: Pick<Images, 'original' | 'answer' | 'peek'>;
  /** Which arguments of image fields are allowed. */
  readonly imagePolicy: ImagePolicy;
  readonly formatDate: FormatDate;
}

/** What one request may still use; each of these throws when that is too little. */
export interface Budget extends Meter {
  /** Whether it has been too little before. */
  readonly isOver: boolean;
  /** Takes the values that a part of the answer holds. */
  spend(values: number): void;
  /** Does the same as {@link Meter.work}, after other requests when this one has had much time. */
  workInTurn<T>(piece: () => T): T | Promise<T>;
}

/** What the resolvers of one request are given. */
export interface SiteContext extends SiteServices {
  readonly budget: Budget;
  /** The file that a picture is in, by its id. */
  readonly loadPicture: Load<string, ImageSource>;
  /** Values of computed fields, where a filter or a sort names them. */
  readonly computed: ComputedValues;
}

export const createSiteContext = (services: SiteServices, budget: Budget): SiteContext =>
  new RequestContext(services, budget);

/** Most requests load no picture and compute nothing. */
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
