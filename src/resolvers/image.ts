import { AppError } from '../errors.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';

const refuse = (): never => {
  throw new AppError('unavailable', 'Expected a server that makes images; this one has no image pipeline.');
};

export const imageProcResolvers: SiteResolvers['ImageProc'] = {
  fixed: refuse,
  fluid: refuse,
  original: refuse,
  resize: refuse,
  resolutions: refuse,
  sizes: refuse,
};
