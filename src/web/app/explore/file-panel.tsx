import { useCallback } from 'preact/hooks';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { findFile } from './folder.js';
import type { FileDetails } from './folder.js';
import { RecipeForm } from './recipe-form.js';

interface FilePanelProps {
  readonly id: string;
  /** Where the page is without this panel. */
  readonly onCloseTo: string;
}

export function FilePanel({ id, onCloseTo }: FilePanelProps) {
  const load = useCallback(async () => (await findFile(id)) ?? null, [id]);
  const file = useResource(load);
  return (
    <section class="panel" aria-label="File">
      <a class="close" href={onCloseTo}>
        Close
      </a>
      <Loaded from={file}>{(value) => (value === null ? <p>This file is gone.</p> : <Details file={value} />)}</Loaded>
    </section>
  );
}

function Details({ file }: { readonly file: FileDetails }) {
  return (
    <>
      <h2>{file.relativePath}</h2>
      {file.publicURL !== null && (
        <p>
          <a href={file.publicURL} download>
            Download
          </a>
        </p>
      )}
      {file.image && <RecipeForm path={file.relativePath} image={file.image} />}
      <details open={!file.image}>
        <summary>Every field</summary>
        <table>
          <tbody>
            {file.fields.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td class="value">{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
