/** The names that the modules of a project's sources import. */
export {
  defineSource,
  type SourceChange,
  type SourceModule,
  type SourceRun,
} from '@trellis/site/sources/source-modules';
