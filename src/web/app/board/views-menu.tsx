import { useState } from 'preact/hooks';
import { useAction } from '../shell/action-button.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { CopyButton } from '../shell/copy-button.js';
import { Menu } from '../shell/menu.js';
import { say } from '../shell/toasts.js';
import { addressOf } from './filter-address.js';
import type { Filter } from './filter.js';
import { toViewName } from './views.js';
import { deleteView, renameView, saveView, views } from './views-store.js';

interface ViewsMenuProps {
  readonly filter: Filter;
  readonly onFilter: (change: Partial<Filter>) => void;
}

/** Keeps what is selected under a name, for this page, feeds and scripts; or lets the open view go. */
export function ViewsMenu({ filter, onFilter }: ViewsMenuProps) {
  const [text, setText] = useState('');
  const name = toViewName(text === '' ? filter.view : text);
  const [isBusy, save] = useAction(async () => {
    await saveView(name, filter);
    onFilter({ ...openedAs(filter), view: name });
    setText('');
    say(`The view “${name}” is kept.`);
  });
  /** As the view stands; what is selected further is not put into it. */
  const rename = async (): Promise<void> => {
    await renameView(filter.view, name);
    onFilter({ view: name });
    setText('');
    say(`The view “${filter.view}” is called “${name}” now.`);
  };
  const remove = async (close: () => void): Promise<void> => {
    // What is pressed goes with the view.
    close();
    onFilter({ view: '' });
    await deleteView(filter.view);
    say(`The view “${filter.view}” is gone.`);
  };
  return (
    <Menu name="Views" label="Views: save or delete">
      {(close) => (
        <>
          <label>
            Name of the view
            <input
              maxLength={64}
              autoComplete="off"
              autoCapitalize="none"
              spellcheck={false}
              placeholder={filter.view || 'waiting-for-me'}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && name !== '') save();
              }}
            />
          </label>
          <button
            type="button"
            class="main"
            aria-busy={isBusy}
            aria-disabled={name === ''}
            onClick={() => name && save()}
          >
            {views.value?.some((view) => view.name === name) ? `Replace “${name}”` : 'Save what is selected'}
          </button>
          <CopyButton value={addressOf(filter)} name="Copy the address of this list" />
          {filter.view !== '' && name !== filter.view && (
            <ConfirmButton question="Rename? Its feeds end" onAct={rename}>
              Rename “{filter.view}” to “{name}”
            </ConfirmButton>
          )}
          {filter.view !== '' && (
            <ConfirmButton class="danger" question="Really delete?" onAct={() => remove(close)}>
              Delete “{filter.view}”
            </ConfirmButton>
          )}
        </>
      )}
    </Menu>
  );
}

/** What is in the view now needs not be selected besides. */
const openedAs = ({ sort, group, drafts, snoozed }: Filter): Partial<Filter> => ({
  ...{ pill: 'all', repo: '', author: '', label: '', ci: '', created: '', updated: '', text: '' },
  ...{ sort, group, drafts, snoozed },
});
