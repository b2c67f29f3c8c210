import { TableHead } from '../ui/table-head.js';
import type { ImageCandidate } from './image-candidates.js';
import { useFileSizes } from './use-file-sizes.js';

interface CandidatesProps {
  readonly candidates: readonly ImageCandidate[];
  /** The `src` of the image that is shown. */
  readonly shown: string;
  /** Called with the descriptor of the chosen image. */
  readonly onChoose: (descriptor: string) => void;
}

/** A table of all derived images with their size in bytes. The user selects the one that is shown. */
export function CandidatesTable({ candidates, shown, onChoose }: CandidatesProps) {
  const bytes = useFileSizes(candidates.map(({ src }) => src));
  return (
    <table class="candidates" aria-label="Derived images">
      <TableHead names={['Image', 'Bytes', 'Link']} />
      <tbody>
        {candidates.map(({ src, descriptor }) => (
          <tr key={src}>
            <td>
              <label class="choice">
                <input type="radio" name="shown" checked={src === shown} onChange={() => onChoose(descriptor)} />
                {toName(descriptor)}
              </label>
            </td>
            <td>{toBytes(bytes.get(src))}</td>
            <td>{src.startsWith('data:') ? 'inline' : <a href={src}>Open</a>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function toName(descriptor: string): string {
  if (descriptor === '') return 'The image';
  const number = descriptor.slice(0, -1);
  return descriptor.endsWith('w') ? `${number} pixels wide` : `For ${number}× screens`;
}

function toBytes(size: number | null | undefined): string {
  if (size === undefined) return '…';
  return size === null ? 'failed' : size.toLocaleString();
}
