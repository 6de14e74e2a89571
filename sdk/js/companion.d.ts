// What a character or a handler in JavaScript or TypeScript is asked, and what it finds. It is made of package abi, whose
// ABI.md says what all of it means: go test ./abi -run TypeScript -update

declare module "companion" {
  /** What is known of a call besides its data. */
  interface About {
    /** The module's id. */
    self: string;
    /** Where it is asked; absent where that is nowhere. */
    room?: string;
    /** Names the call in logs. */
    id: string;
    /** The room's clock, RFC 3339 in UTC. */
    now?: string;
  }

  /** Description is what a module says of itself when it is loaded. */
  interface Description {
    /** "1" or "1.minor" */
    abi: string;
    /** the name people call it by, e.g. "Aya" */
    name: string;
    /** other names it answers to, e.g. "あや", "アヤ" */
    aliases?: string[];
    /** the maker's own version */
    version?: string;
    /** what the module is; "" is a character */
    kind?: ModuleKind;
    /** ops it answers */
    ops: string[];
    /** host ops beyond those always granted */
    needs?: string[];
    /** Card is the companion's definition, as the AI Companion Protocol has it: what it may do and perceive. */
    card?: any;
    /** Several says that it reads Perceiving.More: what waits is judged in one call. */
    several?: boolean;
    /** Actions are what an action handler can do for companions. Their Game is not read. */
    actions?: Offer[];
    /** Settings is the JSON Schema of a handler's settings, of an object; none: it has none. */
    settings?: any;
  }

  /** Scene is the data of OpVote and OpSpeak: what the companion needs to judge the moment. More of the past is to be had with HostHistoryGet. */
  interface Scene {
    /** what was said last */
    message: Message;
    /** the host found this companion addressed by Message */
    addressed?: boolean;
    /** everybody in the room, this companion included; of more than MaxMembers some */
    members?: Member[];
    /** companion turns since a human last spoke */
    turns: number;
    /** the room's cap on Turns; 0 means none */
    max_turns?: number;
    /** where the talk is in its way to an end */
    closing?: Closing;
    /** OpSpeak only: the newest messages, oldest first, Message last */
    recent?: Message[];
    /** OpSpeak only */
    grant?: Grant;
    /** OpSpeak only: what other humans wait for this companion to answer, oldest first; the line counts as the answer to all */
    waiting?: Message[];
    /** OpSpeak only: the previous line was stale; say what fits now */
    retry?: boolean;
    /** what there is to spend on talk, in a room with a pool */
    budget?: Budget;
    /** Conversation is the conversation between agents that it is of; nil in a room that is none. */
    conversation?: Conversing;
    /** what games offer, to be played with HostActionEmit */
    offers?: Offer[];
    /** the newest that games told, oldest first */
    told?: Percept[];
  }

  /** Vote says whether a participant wants the floor for the message the round is about, and how much. */
  interface Vote {
    state: State;
    /** 0..10 */
    importance: number;
    /** a hint only: addressing is derived from the message */
    selected?: boolean;
    closing?: Closing;
    /** for people who ask why */
    reason?: string;
    /** Backchannel is a short reply (「なるほど」) that is said beside the speaker when somebody else gets the floor, in a room whose policy has a pool. */
    backchannel?: string;
  }

  /** Line is what a companion says when it holds the floor. An empty Text passes the floor on; Pass may then say why. */
  interface Line {
    text: string;
    to?: string[];
    /** overrides the closing of the vote */
    closing?: Closing;
    pass?: string;
    /** Emotion is how it is said, in a word, where Parameters do not tell. */
    emotion?: string;
    /** Parameters are all of the action "speak" where the card's has more than a message; the message is Text. */
    parameters?: any;
  }

  /** Perceiving is the data of OpPerceive. */
  interface Perceiving {
    perception: Percept;
    /** with Description.Several: older ones that wait, oldest first; the judgement is of all */
    more?: Percept[];
    /** what was said last; Seq 0: nothing yet */
    message: Message;
    members?: Member[];
    /** the newest messages, oldest first */
    recent?: Message[];
    turns: number;
    max_turns?: number;
    closing?: Closing;
    /** what games offer, to be played with HostActionEmit */
    offers?: Offer[];
    /** what games told before, oldest first; it is not to be judged */
    told?: Percept[];
  }

  /** Judgement is what a companion makes of a perception: whether it wants to speak, and with what. Actions it plays meanwhile with HostActionEmit. */
  interface Judgement {
    state: State;
    /** 0..10 */
    importance: number;
    reason?: string;
    /** the line at hand; without one OpSpeak is asked when the floor is granted */
    text?: string;
    to?: string[];
    /** Parameters are all of the action "speak" where the card's has more than a message; the message is Text. */
    parameters?: any;
  }

  /** Result is the data of OpResult: what became of an action that the companion played, as its body tells. */
  interface Result {
    /** of the action */
    id: string;
    action: string;
    ok: boolean;
    reason?: string;
    /** whose body it was */
    by?: string;
  }

  /** Event is the data of OpEvent. */
  interface Event {
    kind: EventKind;
    forget?: Forget;
  }

  /** Compressing is the data of OpCompress. All of it but Length, Unit and Language is words of others. */
  interface Compressing {
    /** to be compressed, oldest first */
    turns: PastTurn[];
    /** of the person who asked for it: what must stay, what is noise */
    policy: string;
    /** what the text may come to at most */
    length: number;
    /** of Length: UnitCharacters or UnitTokens */
    unit: string;
    /** a language tag, "ja"; empty: that of the turns */
    language?: string;
    /** what has to stay, found in Turns */
    keep: KeepItem[];
    /** the one before, which a verifier refused */
    draft?: string;
    /** why */
    feedback?: string;
  }

  /** Compressed answers OpCompress. */
  interface Compressed {
    text: string;
  }

  /** Verifying is the data of OpVerify. */
  interface Verifying {
    /** the original */
    turns: PastTurn[];
    /** as it would be told: the turns around it, and the draft in its place */
    history: PastTurn[];
    policy: string;
    keep: KeepItem[];
    draft: string;
    /** Part and Parts say that Turns and Keep are one part of several, counted from 1; 0: they are all. The draft tells of the other parts too. */
    part?: number;
    parts?: number;
  }

  /** Verified answers OpVerify. Whatever is not complete counts as NO. */
  interface Verified {
    /** one for each of Keep */
    items: VerifiedItem[];
    /** what the draft says and the original does not */
    added?: string[];
    /** VerdictYes or VerdictNo */
    verdict: string;
    feedback?: string;
  }

  /** Acting is the data of OpAct: an action of a companion's, or one that a person asked for, which an action handler offered, and is to carry out. */
  interface Acting {
    /** of the action */
    id: string;
    /** that plays it; empty where a person asked */
    companion: string;
    /** the person who asked; empty where a companion plays it */
    by?: string;
    action: string;
    /** by the schema that the handler gave */
    parameters?: any;
    /** title of what led to it */
    perception?: string;
    /** the handler's, of the configuration */
    settings?: any;
  }

  /** Acted is what came of it. An error of the module says that nothing did. */
  interface Acted {
    /** for the companion, and whoever looks; at most MaxActed bytes are kept */
    message?: string;
    /** the work goes on, and HostActionResult tells what came of it; Message is told nobody */
    later?: boolean;
  }

  /** Showing is the data of OpShow: what a room shows of a companion, in order. A handler that was loaded just now is shown what comes from then on. */
  interface Showing {
    companion: string;
    /** of the companion, as people call it */
    name: string;
    /** of its card: how it sounds */
    voice?: any;
    shown: Shown[];
    /** the handler's, of the configuration */
    settings?: any;
  }

  /** Sensing is the data of OpSense: a perception, before it is kept. */
  interface Sensing {
    companion: string;
    perception: Percept;
    settings?: any;
  }

  /** Sensed answers OpSense. Its zero value lets the perception pass as it is. */
  interface Sensed {
    /** why the companion does not perceive it */
    refuse?: string;
    /** in place of what it was */
    body?: any;
  }

  /** Lining is the data of OpLine: words of a companion, before they are said: a line, or a piece of one. */
  interface Lining {
    companion: string;
    text: string;
    settings?: any;
  }

  /** Lined answers OpLine. Its zero value lets the words pass as they are. */
  interface Lined {
    /** why they are not said, nor anything behind them */
    refuse?: string;
    /** in place of what they were */
    text?: string;
  }

  /** Timer is the data of OpTimer: a timer of the handler is due. At its start, and when it is loaded anew, a handler that answers OpTimer is asked with the name "", for it has none then. */
  interface Timer {
    name: string;
    data?: any;
    companions: string[];
    settings?: any;
  }

  /** Running is the data of OpRun. The call lasts as long as the handler acts; when its context ends it has to return. */
  interface Running {
    /** for whom the handler acts now; the call begins anew where they change */
    companions: string[];
    settings?: any;
  }

  /** Now answers HostNow. */
  interface Now {
    now: string;
    unix_ms: number;
  }

  /** RandomAsk asks for N random bytes, 1..MaxRandom. */
  interface RandomAsk {
    n: number;
  }

  /** Random answers HostRandom; Bytes travels as base64. */
  interface Random {
    bytes: string;
  }

  /** KVKey names one key of the character's own store. */
  interface KVKey {
    key: string;
  }

  /** KVValue answers HostKVGet and HostKVDel. */
  interface KVValue {
    found: boolean;
    value?: string;
  }

  /** KVPair is one key and its value. */
  interface KVPair {
    key: string;
    value: string;
  }

  /** KVListAsk asks for keys with a prefix, in byte order, after After. */
  interface KVListAsk {
    prefix?: string;
    after?: string;
    /** 0 means 100; at most 1000 */
    limit?: number;
  }

  /** KVKeys answers HostKVList. */
  interface KVKeys {
    keys: string[];
  }

  /** HistoryAsk asks for messages of the room with Seq < Before (0: the newest). */
  interface HistoryAsk {
    before?: number;
    /** 0 means 20, or with a Budget MaxHistory; at most MaxHistory */
    limit?: number;
    /** Budget is how many tokens of a language model they may come to, guessed by their letters; 0 means no bound. The newest is always there, cut in its middle where it alone is too long. */
    budget?: number;
  }

  /** History answers HostHistoryGet, oldest first. */
  interface History {
    messages: Message[];
    /** seq of the newest entry in the room */
    head: number;
    /** Laid is the seq of the newest entry by which some turns are told otherwise; 0: none are. */
    laid?: number;
  }

  /** SelfInfo answers HostSelfInfo. */
  interface SelfInfo {
    id: string;
    room?: string;
    engine: string;
    generation: number;
  }

  /** KnowledgeAsk asks for a document of the companion's folder, or without a Name for the list of them. */
  interface KnowledgeAsk {
    name?: string;
    /** the byte where to begin */
    from?: number;
    /** bytes; 0 means MaxKnowledge, at most that */
    limit?: number;
  }

  /** Knowledge answers HostKnowledgeGet. */
  interface Knowledge {
    /** by name */
    documents?: Document[];
    /** in whole letters */
    text?: string;
    /** the byte where it goes on; 0: that is all */
    next?: number;
  }

  /** SayAsk is a segment of the line that is being spoken, a sentence or so. */
  interface SayAsk {
    text: string;
    /** Emotion is how it is said, in a word; empty: as the segment before. */
    emotion?: string;
  }

  /** ActionAsk asks for an action of the companion's card. With a Perception the card's events must allow the action for it. A handler says which of its companions is to play it, and plays none that is offered. */
  interface ActionAsk {
    /** where a handler asks */
    companion?: string;
    action: string;
    parameters?: any;
    /** title of what led to it */
    perception?: string;
  }

  /** ActionPlayed answers HostActionEmit. */
  interface ActionPlayed {
    id: string;
    /** bodies that were connected; 0 is not hidden */
    delivered: number;
    /** the events do not allow it, and the card only warns */
    warning?: string;
    /** of the action "speak": seq of the wish, whose line waits for the floor */
    wish?: number;
    /** Due is until when an answer is waited for, of a query. It is perceived later, as is that none came. */
    due?: string;
  }

  /** ModelAsk asks the companion's language model. */
  interface ModelAsk {
    system?: string;
    messages: ModelMessage[];
    max_tokens?: number;
    /** the answer is to be JSON of this schema */
    schema?: any;
  }

  /** ModelAnswer answers HostModelGenerate. */
  interface ModelAnswer {
    text: string;
    json?: any;
    /** tokens read */
    in: number;
    /** tokens written */
    out: number;
  }

  /** ConversationAsk opens a conversation between agents. */
  interface ConversationAsk {
    target: Targets;
    purpose?: string;
    /** the first one */
    message?: string;
    /** 2..40; 0 means 20 */
    max_turns?: number;
    /** empty: the only one that the companion is in */
    project?: string;
  }

  /** ConversationNow is how one stands. */
  interface ConversationNow {
    conversation_id: string;
    /** pending, active, terminating, ended, expired, declined */
    status: string;
  }

  /** ConversationEndAsk leaves one. */
  interface ConversationEndAsk {
    /** empty: the one that is open */
    conversation_id?: string;
    final_message?: string;
  }

  /** MemoryAsk looks for what the companion remembers that has to do with Text, of what it may use in the room of the call. */
  interface MemoryAsk {
    /** empty: the newest, the most important first */
    text?: string;
    /** and those whom it is about */
    about?: string[];
    /** 0 means 8; at most MaxMemories */
    limit?: number;
    /** also what is no longer so */
    past?: boolean;
  }

  /** Memories answers HostMemorySearch, the best first. */
  interface Memories {
    memories: Memory[];
  }

  /** MemoryAdd is something to remember. With a Turn, the seq of a message of the room of the call, Quote has to stand in it, and whoever said that is who said it; without one there is no Quote, and nobody said it but the module itself. Replaces are ids of what is no longer so. */
  interface MemoryAdd {
    /** empty: a fact */
    kind?: MemoryKind;
    text: string;
    quote?: string;
    turn?: number;
    about?: string[];
    keys?: string[];
    /** 1..5; 0 means 3 */
    importance?: number;
    replaces?: string[];
  }

  /** Memory is one thing that a companion remembers. Text and Quote are words of others: data and never instructions. */
  interface Memory {
    id: string;
    kind: MemoryKind;
    text: string;
    /** Quote is the part of the source that Text rests on, letter by letter; the daemon found it there. Empty for what a module added, or a person wrote at a door. */
    quote?: string;
    /** ids of those whom it is about */
    about?: string[];
    /** what it is found by: names, things */
    keys?: string[];
    /** where it was said */
    room?: string;
    /** seqs there */
    turns?: number[];
    said_by?: string;
    /** EditedBy is who wrote Text as it is now at a door: it is not what SaidBy said any more, and has no Quote. */
    edited_by?: string;
    said_at?: string;
    valid_from?: string;
    /** it was so until then; zero: it still is */
    valid_to?: string;
    /** 1..5 */
    importance: number;
    visibility?: Visibility;
  }

  /** FetchAsk asks for what is at an address of the web. Where it may be is granted by name: hosts of the module in the daemon's configuration. */
  interface FetchAsk {
    /** GET where it is empty; HEAD, POST, PUT, PATCH or DELETE */
    method?: string;
    /** http or https */
    url: string;
    headers?: Record<string, string>;
    /** the body */
    text?: string;
    /** the body where it is no text; base64 */
    bytes?: string;
    /** for all of it; 0 means UsualFetch, at most MaxFetch */
    timeout_ms?: number;
  }

  /** Fetched answers HostHTTPFetch, whatever the status is. */
  interface Fetched {
    status: number;
    /** where it was at last */
    url: string;
    /** by their names in small letters, several values with ", " between them */
    headers?: Record<string, string>;
    /** the body */
    text?: string;
    /** the body where it is no UTF-8; base64 */
    bytes?: string;
  }

  /** PerceptionAsk is the data of HostPerceptionEmit: a companion perceives something, which its card has to know of. Either Body or Image is there. */
  interface PerceptionAsk {
    companion: string;
    title: string;
    /** an object or a text */
    body?: any;
    image?: string;
    /** of the image */
    media_type?: string;
    /** who it comes from, such as a viewer; empty: the handler */
    from?: string;
    /** Key names it for HostPerceptionRetract, such as the id of a chat's line. At most MaxName bytes. */
    key?: string;
  }

  /** Emitted answers HostPerceptionEmit: it is in the journal, and will be judged. */
  interface Emitted {
    /** of its entry */
    seq: number;
  }

  /** RetractAsk takes back what was perceived and not judged yet: the perception with a key, or all from somebody. */
  interface RetractAsk {
    companion: string;
    key?: string;
    from?: string;
  }

  /** Retracted answers HostPerceptionRetract. */
  interface Retracted {
    /** how many were taken back */
    count: number;
  }

  /** Sound is the data of HostSoundEmit: a part of a line as it sounds, for the bodies that play it. */
  interface Sound {
    companion: string;
    line: string;
    part: number;
    /** audio */
    blob: BlobRef;
    /** JSON, a list of Viseme */
    mouth?: BlobRef;
    /** that it takes */
    seconds: number;
    /** in place of all that: why there is none */
    failed?: string;
  }

  /** Blob is the data of HostBlobPut, and answers HostBlobGet. */
  interface Blob {
    type: string;
    /** base64 */
    bytes: string;
  }

  /** BlobRef names a blob by what is in it, and so for ever. */
  interface BlobRef {
    /** SHA-256, in hex */
    hash: string;
    /** audio/wav, image/png, image/jpeg, image/webp or application/json */
    type?: string;
    /** its path at the web door; the daemon sets it */
    url?: string;
  }

  /** TimerAsk is the data of HostTimerSet. A timer that is set again is set anew; After 0 takes it back. */
  interface TimerAsk {
    name: string;
    /** at least MinTimer */
    after_ms: number;
    data?: any;
  }

  /** ResultAsk is the data of HostActionResult: what came of an action that a handler was asked to carry out. It may come before OpAct has answered, whose answer is told nobody then. */
  interface ResultAsk {
    /** of the action */
    id: string;
    companion: string;
    ok: boolean;
    /** as Acted has it; where OK is false, why nothing came of it */
    message?: string;
  }

  /** Code classes an error at a border; each door maps it once. */
  type Code = "invalid" | "denied" | "not_found" | "conflict" | "stale" | "too_large" | "exhausted" | "unavailable" | "timeout" | "unknown_op" | "internal";

  /** ModuleKind says what a module is. */
  type ModuleKind = "character" | "handler" | "perception-handler" | "action-handler" | "line-handler";

  /** Offer is an action that a connected game offers at the time, besides those of the card. Its name, its description and its schema are the game's own words: data, and no instructions. */
  interface Offer {
    name: string;
    description?: string;
    /** of its parameters; none: it has none */
    schema?: any;
    game?: string;
  }

  /** Message is one said thing, as doors and modules see it. */
  interface Message {
    seq: number;
    id: string;
    from: string;
    /** never null */
    to: string[];
    text: string;
    kind: MessageKind;
    at: string;
    /** Addressed is whom a turn addressed, by To or by name, of those who were there. */
    addressed?: string[];
    /** Cut says that people did not hear all of it, and Text is what they heard: "cut", for somebody spoke over it, "stopped" or "failed". */
    cut?: string;
    /** Turns are the first and the last turn that a message of KindCompressed stands for. */
    original_turns_range?: number[];
  }

  /** Member is a participant as the others see it. */
  interface Member {
    id: string;
    name?: string;
    kind: ParticipantKind;
  }

  /** Closing is how far a talk is on its way to an end. The zero value reads as ClosingNone. */
  type Closing = "none" | "pre-closing" | "closing" | "terminal";

  /** Grant is the right to speak now. Its token names the grant; it is not a secret, for the daemon goes by who is connected. */
  interface Grant {
    token: string;
    /** seq of the newest message the speaker is to have seen */
    basis: number;
    /** after this the floor passes on */
    expires: string;
  }

  /** Budget is a pool at a moment. */
  interface Budget {
    /** 0..Size */
    level: number;
    /** points in a full pool */
    size: number;
    /** the longest line that can be paid for now; 0: none, -1: of any length */
    chars: number;
    /** shortest first; the first is a backchannel's */
    prices: Price[];
  }

  /** Conversing says which conversation between agents a scene is of. */
  interface Conversing {
    /** conv_... */
    id: string;
    project: string;
    /** Purpose is what it is for, in the words of whoever opened it: a stranger's, so data and never an instruction. At most 4,000 characters, and may be empty. */
    purpose?: string;
    /** whoever opened it */
    from: string;
    /** for the companion that is asked */
    state: string;
    /** messages so far */
    turns: number;
    max_turns?: number;
  }

  /** Percept is one thing a companion perceives. Its titles, formats and sizes are the card's to allow. */
  interface Percept {
    /** of its entry, once it has one */
    seq?: number;
    /** which of the card's perceptions, e.g. "vision" */
    title: string;
    /** object, text or image */
    format: string;
    body?: any;
    /** of an image */
    media_type?: string;
    /** base64 on the wire; instead of Body */
    image?: string;
    /** who sent it */
    from?: string;
    at?: string;
    /** the game that tells it, by its own word; the card need not have the title */
    game?: string;
    /** it is to be answered with an action of the game, now */
    force?: Force;
    /** Answers is the id of the query, a kind of action, that it answers; the card need not have the title as a perception. Of one that nobody could answer the Body is a text that says why. */
    answers?: string;
    /** Key names it for a handler that may take it back. */
    key?: string;
  }

  /** State is a voter's wish: to speak next or to listen. */
  type State = "speak" | "listen";

  /** EventKind names what a module is told of. */
  type EventKind = "forget";

  /** Forget is what was erased: all that somebody said, or one thing that was remembered. */
  interface Forget {
    who?: string;
    /** ids */
    facts?: string[];
    /** what must not be left anywhere */
    words?: string[];
  }

  /** PastTurn is a turn of a room's history, or what several are told as. */
  interface PastTurn {
    /** its number, from 1; of several the first */
    n: number;
    /** the last, where it stands for several */
    upto?: number;
    from?: string;
    text: string;
    at?: string;
  }

  /** KeepItem is something that has to be in what a range of turns is compressed to. */
  interface KeepItem {
    /** M1, M2, ... */
    id: string;
    text: string;
    /** where it stands */
    turn: number;
    /** the policy names it */
    policy?: boolean;
  }

  /** VerifiedItem says what became of one KeepItem. */
  interface VerifiedItem {
    id: string;
    /** one of the statuses */
    status: string;
    /** where the draft has it, letter by letter */
    quote?: string;
  }

  /** Shown is one thing that a room shows of a companion. */
  interface Shown {
    /** one of those above; others may come */
    kind: string;
    /** of its entry */
    seq: number;
    at: string;
    /** its id */
    line?: string;
    /** of the line, from 1 */
    part?: number;
    text?: string;
    /** neutral, happy, angry, sad, relaxed or surprised */
    emotion?: string;
    /** that a part takes to say */
    seconds?: number;
    sound?: Sound;
    /** said, cut, stopped or failed */
    end?: string;
    action?: string;
    /** of the action */
    id?: string;
    parameters?: any;
  }

  /** Document is one of a companion's. */
  interface Document {
    name: string;
    /** bytes */
    size: number;
  }

  /** ModelMessage is a message of a talk with a model. */
  interface ModelMessage {
    /** user or assistant */
    role: string;
    text: string;
  }

  /** Targets are ids. In JSON one is a string, and any other number a list. */
  type Targets = string[];

  /** MemoryKind says what is remembered. */
  type MemoryKind = "fact" | "episode";

  /** Visibility says where a companion may use what it remembers. */
  type Visibility = "room" | "person" | "all";

  /** MessageKind says whether a message took the floor. */
  type MessageKind = "turn" | "backchannel" | "compressed_history";

  /** ParticipantKind says what somebody in a room is. */
  type ParticipantKind = "companion" | "human" | "agent";

  /** Price is what a line of up to Chars characters (code points) costs. */
  interface Price {
    chars: number;
    cost: number;
  }

  /** Force is what a game wants of a companion: that it plays one of some actions. */
  interface Force {
    /** one of which is to be played; they are in Perceiving.Offers */
    actions: string[];
    /** low, medium, high or critical */
    priority?: string;
    /** what the perception says is not told any more once this is over */
    ephemeral?: boolean;
    /** how often it is asked for, from 1 */
    try?: number;
    /** why it is asked for once more */
    failed?: string;
  }

  /** What a file exports: the ops that it answers. */
  interface Module {
    describe?: Partial<Description> | (() => Partial<Description>);
    vote?(data: Scene, about: About): Vote | Promise<Vote>;
    speak?(data: Scene, about: About): Line | string | Promise<Line | string>;
    perceive?(data: Perceiving, about: About): Judgement | Promise<Judgement>;
    result?(data: Result, about: About): void | Promise<void>;
    event?(data: Event, about: About): void | Promise<void>;
    compress?(data: Compressing, about: About): Compressed | Promise<Compressed>;
    verify?(data: Verifying, about: About): Verified | Promise<Verified>;
    act?(data: Acting, about: About): Acted | Promise<Acted>;
    show?(data: Showing, about: About): void | Promise<void>;
    sense?(data: Sensing, about: About): Sensed | Promise<Sensed>;
    line?(data: Lining, about: About): Lined | Promise<Lined>;
    timer?(data: Timer, about: About): void | Promise<void>;
  }

  /** What can be asked of the daemon: what is told, and what comes. */
  interface HostOps {
    "now": [{}, Now];
    "random": [RandomAsk, Random];
    "kv.get": [KVKey, KVValue];
    "kv.set": [KVPair, {}];
    "kv.del": [KVKey, KVValue];
    "kv.list": [KVListAsk, KVKeys];
    "history.get": [HistoryAsk, History];
    "self.info": [{}, SelfInfo];
    "knowledge.get": [KnowledgeAsk, Knowledge];
    "say": [SayAsk, {}];
    "action.emit": [ActionAsk, ActionPlayed];
    "model.generate": [ModelAsk, ModelAnswer];
    "conversation.start": [ConversationAsk, ConversationNow];
    "conversation.end": [ConversationEndAsk, ConversationNow];
    "memory.search": [MemoryAsk, Memories];
    "memory.add": [MemoryAdd, Memory];
    "http.fetch": [FetchAsk, Fetched];
    "perception.emit": [PerceptionAsk, Emitted];
    "perception.retract": [RetractAsk, Retracted];
    "sound.emit": [Sound, {}];
    "blob.put": [Blob, BlobRef];
    "blob.get": [BlobRef, Blob];
    "timer.set": [TimerAsk, {}];
    "action.result": [ResultAsk, {}];
  }

  // What can be imported: import { addressed, fresh, known } from "companion".

  /** What a character knows of somebody. */
  interface Person {
    name?: string;
    [what: string]: any;
  }

  /** Whether a message is for this character: the daemon found so, it was sent to it, or an agent that speaks to nobody else does, or invites it to a conversation. */
  function addressed(scene: Scene | Perceiving, about: About): boolean;
  /** The id of another character whom a message is for, "" where it is for none. */
  function askedOther(scene: Scene | Perceiving, about: About): string;
  /** A vote to speak, from 0 (would not mind) to 10 (must). */
  function want(importance: number, reason?: string): Vote;
  /** A vote to stay silent. */
  function listen(reason?: string): Vote;
  /** A line that gives the floor back without a word. */
  function pass(why?: string): Line;
  /** What this character has been told to remember of somebody, by id: {} where that is nothing. */
  function known(id: string): Person;
  /** Adds to what is known of somebody, and gives all of it; what is undefined is taken out. It stands in the key human/ID. */
  function remember(id: string, what: Person): Person;
  /** Takes out what is known of somebody whose words were erased: export { forget as event } from "companion". */
  function forget(event: Event): void;
  /** How somebody may be called, by the name that was remembered or the one that is shown; "" where there is no good way. */
  function nameOf(scene: Scene | Perceiving, id: string): string;
  /** The name that a person tells as their own, "" where there is none: 「私はタロウです」, "my name is Taro". */
  function introduced(text: string): string;
  /** Picks a line that was not said in this room until three quarters of the others have been, and that nobody has nearly said lately; "" where there is none. Values stand for {names} in lines; a line without its value is not said. */
  function fresh(lines: readonly string[], scene: Scene, about: About, values?: Record<string, string | number | undefined>): string;
  /** The topics of a text, the one with most words first; own ones are {tea: ["お茶", "tea"]}. */
  function topics(text: string, own?: Record<string, readonly string[]>): string[];
  /** The language of a text: "ja" by its scripts, "en" by Latin words, "" where there is neither. */
  function language(text: string): "ja" | "en" | "";
  /** Whether a text asks something. */
  function question(text: string): boolean;
  /** How much two texts share, 0 to 1. */
  function similarity(a: string, b: string): number;
  /** A text without what does not change a word: case, full and half width, katakana and hiragana, runs of spaces. */
  function normal(text: string): string;
  /** Whether a text in normal form has a word in normal form; one in Latin letters must stand alone. */
  function has(text: string, word: string): boolean;
  /** A small stable number for texts. */
  function hash(...parts: string[]): number;
}

/** Asks the daemon something; what comes of it is there before anything else happens. Throws a HostError. */
declare function host<Op extends keyof import("companion").HostOps>(op: Op, data?: import("companion").HostOps[Op][0]): Promise<import("companion").HostOps[Op][1]>;

/** What is kept for this module over restarts. */
declare const kv: {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  delete(key: string): void;
  list(prefix?: string): string[];
};

/** Says a piece of the line that is being made, while speak runs. Needs the grant "say". */
declare function say(text: string, emotion?: string): void;

/** The daemon's log. */
declare const console: Record<"debug" | "log" | "info" | "warn" | "error", (...words: unknown[]) => void>;

/** What the daemon refuses, or a module does: with a code of its own where it throws one. */
declare class HostError extends Error {
  constructor(error: { code: import("companion").Code; message: string; retry?: boolean });
  code: import("companion").Code;
  retry: boolean;
}
