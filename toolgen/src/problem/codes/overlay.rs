//! Problems of overlays (05xx).

super::table! {
    OVERLAY = "E0501", "This is no overlay that can be applied", "
An overlay is a document with `overlay: 1.0.0` (or another version of 1), `info`, and `actions`. Of this one nothing is
applied, so the document that it was to change is not compiled: what an overlay takes away must not become a tool.

    overlay: 1.0.0
    info: {title: For agents, version: 1.0.0}
    actions:
      - target: $.paths['/internal']
        remove: true
";
    ACTION = "E0502", "An action of an overlay cannot be applied", "
An action needs a `target`, a JSONPath (RFC 9535), and one of `update`, `remove: true` and `copy`. What is merged must be
of the kind of its target: an object into an object, a list or one more item into a list, a simple value in place of
another. The document is not compiled: what an action takes away must not become a tool.

To replace a value by one of another kind, remove it by one action and add it by the next.

    - target: paths./pets                  write: $.paths['/pets']
";
    NO_TARGET = "W0503", "An action of an overlay finds nothing", "
The target is nowhere in the document, so the action does nothing. That is mostly a mistake in writing, or the document
has changed since the overlay was written. Names are compared with case.

    - target: $.paths['/Pets'].get         but the path is /pets
";
    OTHER_DOCUMENT = "N0505", "An overlay is for another document", "
The overlay names the document that it changes by `extends`, and this is another one, to which it is not applied. Without
`extends`, or with a URL there, it is applied to each document that is given with it.

    extends: ./api.yaml                  a file, from the overlay
";
    NO_CHANGE = "W0504", "An action of an overlay changes nothing", "
The action has a target and says nothing of what becomes of it. The format allows that, and it is mostly unfinished.

    - target: $.info                       add update: {title: Pets}
";
}
