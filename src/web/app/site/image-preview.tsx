import { useCallback, useState } from 'preact/hooks';
import { useResource } from '../ui/use-resource.js';
import { querySite } from './query-site.js';

const PREVIEW = `query preview($id: String!) {
  file(id: {eq: $id}) {
    childImageProc {
      fixed(width: 480, height: 320, fit: INSIDE, toFormat: WEBP) { width height src srcSet }
      original { width height }
    }
  }
}`;

interface PreviewResult {
  readonly file: {
    readonly childImageProc: {
      readonly fixed: {
        readonly width: number;
        readonly height: number;
        readonly src: string;
        readonly srcSet: string;
      };
      readonly original: { readonly width: number; readonly height: number };
    } | null;
  } | null;
}

/** A preview of an image file in a format that browsers show, with the size of the original. */
export function ImagePreview({ id }: { readonly id: string }) {
  const [isBroken, setBroken] = useState(false);
  const load = useCallback(
    async () => (await querySite<PreviewResult>(PREVIEW, { id })).file?.childImageProc ?? null,
    [id],
  );
  const { value, problem } = useResource(load);
  if (isBroken || problem !== undefined) return <p class="problem">{problem ?? 'The image can’t be shown.'}</p>;
  if (!value) return <div class="portrait" />;
  const { fixed, original } = value;
  return (
    <figure class="portrait">
      <img {...size(fixed)} src={fixed.src} srcset={fixed.srcSet} alt="" onError={() => setBroken(true)} />
      <figcaption class="quiet">
        {original.width} × {original.height} pixels
      </figcaption>
    </figure>
  );
}

const size = ({ width, height }: { readonly width: number; readonly height: number }) => ({ width, height });
