import type { FieldArguments, FieldName } from '../images/answers.js';
import type { ImageSource } from '../images/source.js';
import type { ImageProcRecord } from '../generated/site/records.js';
import type { SiteResolvers } from '../generated/site/resolvers.js';
import type { SiteContext } from './context.js';

type Resolvers = SiteResolvers['ImageProc'];

const fixed: Resolvers['fixed'] = (image, args, context) => derive('fixed', image, args, context);

const fluid: Resolvers['fluid'] = (image, args, context) => derive('fluid', image, args, context);

export const imageProcResolvers: Resolvers = {
  fixed,
  fluid,
  original: (image, _args, context) => ofPicture(image, context, (source) => context.images.original(source)),
  resize: (image, args, context) => derive('resize', image, args, context),
  resolutions: fixed as Resolvers['resolutions'],
  sizes: fluid as Resolvers['sizes'],
};

function derive<Field extends FieldName>(
  field: Field,
  image: Pick<ImageProcRecord, 'parent'>,
  args: FieldArguments[Field],
  context: SiteContext,
): never {
  context.imagePolicy.requireAllowed(field, args);
  return ofPicture(image, context, (source) => context.images.answer(field, source, args));
}

/**
 * An image whose file has gone has nothing to answer. What takes pixels is a
 * function, which graphql-js calls when it is asked for; the generated types
 * know values only. A picture that is known is answered for at once, which
 * spares a list of them most of its time.
 */
function ofPicture(
  { parent }: Pick<ImageProcRecord, 'parent'>,
  context: SiteContext,
  answer: (source: ImageSource) => object | Promise<object>,
): never {
  if (parent === null) return null as never;
  const known = context.pictures.known(parent);
  if (known) return answer(known) as never;
  return context.loadPicture(parent).then((source) => (source ? answer(source) : null)) as never;
}
