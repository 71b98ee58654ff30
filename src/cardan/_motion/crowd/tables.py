"""The tables of a crowd: all that a step reads and writes, each under one name.

Rows of all worlds are in one table. Trees are ordered by kind, then by world; vectors, matrices and node rows are in
their order. Shapes are ordered by world. A vector of a tree is in blocks of six numbers, each in a vector of eight.
Lists whose length a step finds out have room for so many rows (`..._most`), and a count. A table says what it has a row
for, and gets its room with all others of that; one that does not say so is filled as a whole (`layout.py`).
"""

from __future__ import annotations

from cardan._compiler.kernels import F64, I32, I64, INT, LANES, REAL, Record

BITS = 26  # of the number of a shape in a key of a pair
MASK = (1 << BITS) - 1
CROWDED = 192  # the most neighbours of a tree, fill and all, with which a factor is found


class Crowd(Record):
    # --- sizes, and what a step is made with ---
    worlds = INT
    trees = INT
    kinds = INT
    nodes = INT  # the row behind the last is the world at rest
    shapes = INT  # of one world
    grounds = INT
    shape_kinds = INT
    numbers_q = INT  # of all worlds together
    numbers_v = INT
    dt = REAL
    horizon = REAL  # for how many steps of a robot's hinges room counts: so far friction pushes apart what slips
    slip = REAL  # how far torsional and rolling friction reach, at most
    tolerance = REAL  # [m/s]
    most = INT  # iterations
    single = INT  # whether states are kept in single precision
    joined = INT  # whether no tree is stepped alone, so that all contacts are listed
    steps = INT  # of a call
    done = INT  # how many of them are taken
    twist_size = INT
    # --- the state, as users have it; what drives it ---
    q = F64[:]
    v = F64[:]
    a = F64[:]
    effort = F64["v"]
    position = F64["v"]
    velocity = F64["v"]
    wrenches = F64["w"]
    numbers_w = INT
    residual = F64[:]  # of each world
    world_sound = I32["worlds"]
    good = F64[:]  # of each world: how many steps were sound
    # --- the same, tree by tree: which number of the worlds' arrays each one is ---
    q_source = I32[:]
    v_source = I32[:]
    w_source = I32[:]
    q_rows = F64["q"]
    v_rows = F64["v"]
    effort_rows = F64["v"]
    coriolis_rows = F64["v"]
    tau_rows = F64["v"]  # of long chains: what is to be decided on apart, tau - W a
    W_rows = F64["v"]
    position_rows = F64["v"]
    velocity_rows = F64["v"]
    wrench_rows = F64["w"]
    q_after = F64["q"]
    v_after = F64["v"]
    a_rows = F64["v"]
    # --- kinds of trees: programs, and how many trees ---
    kind_rows = I32[:]
    kind_tree = I32[:]  # its first tree
    # of kinds whose trees may be stepped alone: node rows, how much room to move is left, a whole step; 0 of others
    placing = I64["kinds"]
    ending = I64["kinds"]  # of kinds that may touch themselves besides: twists after a step alone
    moving = I64["kinds"]
    alone = I64["kinds"]
    start = I64["kinds"]
    lines = I64["kinds"]  # 0 of a kind of which no force answers to the acceleration
    joint_reaction = I64["kinds"]
    finish = I64["kinds"]
    carrying = I64["kinds"]  # under XPBD; 0 else
    kicking = I64["kinds"]  # likewise
    weighing = I64["kinds"]  # under Featherstone, where surfaces have a restitution
    middle = I64["kinds"]  # of kinds of long chains (`whips`); 0 of others
    bearing = I64["kinds"]  # of kinds of long trees; 0 of others
    # --- trees ---
    run_rows = I32["trees"]  # which of a kind a program runs over
    tree_world = I32[:]
    tree_kind = I32[:]
    tree_borne = I32[:]  # of a long tree: where its nodes begin in `borne`; -1 of others
    tree_nodes = I32[:]  # that carry shapes
    tree_blocks = I32[:]
    tree_first = I32[:]  # its first block among vectors
    tree_mass = I32[:]  # its first block among matrices
    tree_held = I32[:]  # its first force that answers to the acceleration
    tree_elements = I32[:]
    tree_loose = I32[:]  # whether it is a body alone
    tree_node = I32[:]  # the row of that; the world at rest of others
    tree_com = F64[:, 3]
    tree_inverse_mass = F64[:]
    tree_inverse = F64[:, 6]  # of its inertia about that, in its own axes
    tree_base = I32[:]  # the body it hangs on, of a kind that hangs at several places; else -1
    tree_alike = I32[:]  # whether it may touch what its kind's program of a tree alone has
    tree_itself = I32[:]  # whether that program has what it may touch of itself; alone is a tree that touches no other
    tree_coupled = I32["trees"]  # whether it is listed with a shape of another tree, or one its program does not have
    tree_listed = I32["trees"]  # whether it is listed with a shape of another tree
    tree_met = I32["trees"]  # whether it is near one in this step, if its hinges are looked at; else as listed
    tree_near = I32["trees"]  # whether its shapes are looked at in this step
    tree_slack = F64["trees"]  # room its shapes have before pairs have to be listed again [m]
    tree_ball = I32[:]  # its first ball below
    ball_shape = I32[:]  # the shape it is about
    listed_balls = F64["balls", 4]  # where it was then, and how far it reached
    # --- robots whose hinges say how far they are apart from themselves, and from what stays (`itself`) ---
    hinged = INT  # whether there are any
    tree_hinges = I32[:]  # how many, 0 of others; and where their numbers begin in `q_rows` and `v_rows`
    hinge_q = I32[:]
    hinge_v = I32[:]
    tree_is_held = I32[:]  # whether they are those of its root, too, so that what is fixed counts as a part of it
    tree_lonely = I32[:]  # whether nothing else may touch it
    tree_touched = I32["trees"]  # whether it then touches itself
    tree_apart = I32["trees"]  # whether it is known to be apart from itself in this step
    known_apart = INT  # how many are
    tree_time = F64["trees"]  # for how long it is apart, at the speeds of its hinges when it was looked at [s]
    looked_q = F64["q"]  # as `q_rows` was then
    hinge_room = F64["v"]  # how far each may move from there, in the order of `v_rows`
    hinge_speed = F64["v"]  # how fast it is before or after the step, at most
    hinge_unit = F64[:]  # what of it counts as a radian; of a slide a length
    hinge_most = F64[:]  # how far it may move at once, whatever it has room for
    path_first = I32[:]  # of a shape: where its hinges begin, from its node to the root
    path_node = I32[:]
    path_v = I32[:]  # its number among the hinges of the tree
    path_lever = F64[:]  # how far it moves points of the shape, if slides between both are at 0
    path_turn = F64[:]  # how far it turns what is beyond it
    path_slide = F64[:]  # how far it moves what is beyond it along
    # --- and its pairs: those of one world, and what is known of them in each ---
    inner = I64[:]  # keys
    inner_ends = I32[:, 2]  # where the paths of both shapes meet
    inner_margin = F64[:]  # the gap at which they touch; behind these with a skin
    inner_extent = F64[:]  # how far both reach from their middles, together
    inner_count = INT
    tree_inner = I32[:]  # the first of a tree
    tree_pairs = I32[:]  # how many it has
    tree_flag = I32["trees"]  # whether it is to be looked at, or all of its pairs before that
    far_q = F64["q"]  # as `q_rows` was when they were listed
    far_room = F64["v"]  # how far each hinge may move from there before far pairs could close
    tree_close = I32["trees"]  # how many of its pairs are close
    tree_nearest = I32["trees"]  # which of them was the first that could close, in the last look
    close_pair = I32["inner"]  # which, in the order of keys: of each robot from where its pairs begin
    close_gap = F64["inner"]  # how far these were apart, at least, in the last look
    close_way = F64["inner", 3]  # along which they were when they were searched for, in the axes of the first; 0 before
    inner_way = F64["inner", 3]  # the same of pairs that are not close now, in the order of all
    shape_stays = I32[:]  # whether a shape is fixed, has an end and does not run: the same for all worlds
    # --- the same of eight robots that are alike, in lanes ---
    lane_shape = LANES["world_shapes", 12]  # turns of shapes and middles of the boxes about them
    lane_speed = LANES["v"]  # of hinges
    lane_moved = LANES["v"]  # how far they moved since the look before
    lane_travel = LANES["v"]  # how far they are from 0, at most
    path_moved = LANES["paths"]  # how far those before it on a path have moved the shape, at most
    path_speed = LANES["paths"]  # and how fast they do
    lane_time = LANES["one"]  # how long far pairs are to be apart [s]
    lane_wanted = LANES["one"]  # of one pair: the gap for that, the gap, and what is left
    lane_gap = LANES["one"]
    lane_left = LANES["one"]
    tree_alone = I32["trees"]  # whether it is stepped by that, in this step; `ASLEEP` if not at all
    tree_residual = F64["trees"]  # of that, and of what its clusters do [m/s, rad/s]
    tree_work = F64["trees", 3]  # under XPBD: what energy contacts make, and with more (`maximal_rows`)
    tree_share = F64["trees"]  # which share of more they do
    tree_sound = F64["trees"]
    tree_error = F64["trees"]
    mass = LANES["matrices", 6]
    force = LANES["vectors"]
    free = LANES["vectors"]  # accelerations without contact
    line = LANES["vectors"]
    armature = LANES["vectors"]
    before = LANES["vectors"]  # the last accelerations that were decided by
    change = LANES["vectors"]  # those that are found
    held = F64["held"]
    held_after = F64["held"]
    # --- who is at rest (`sleep`) ---
    sleep = REAL  # below which speed a body is slow [m/s]; 0 if none sleeps
    rest_steps = INT  # in how many steps one after the other, before it falls asleep
    world_trees = INT  # trees of one world
    world_tree = I32[:]  # which they are, world by world
    rest = I32["trees"]  # of each tree, world by world: in how many it was slow; -1 - its island's first tree if asleep
    rest_q = F64["q"]  # as `q` was after the last step: where those asleep are
    rest_woken = I32["trees"]  # whether the island of that first tree wakes
    tree_rest = I32[:]  # where a tree is in `rest`
    tree_pushed = I32["trees"]
    tree_placed = I32["trees"]  # whether one asleep, and its shapes, are where these tables have them
    tree_q = I32[:]  # its first number among coordinates, velocities, wrenches
    tree_v = I32[:]
    tree_wrench = I32[:]
    tree_axis = I32[:]  # its first axis
    tree_extent = F64[:]  # how far its shapes reach from its origin
    tree_turned = F64[:]  # and of balls their centres, with `SPIN` of what is about these
    asleep = INT  # how many trees are asleep
    world_awake = I32["worlds"]  # how many trees of a world are to be stepped or placed
    # --- nodes that carry shapes ---
    node = F64["nodes", 27]
    node_after = F64["nodes", 6]  # its twist at the velocities after a step alone
    node_shift = F64["nodes", 3]  # under XPBD: how far its body's centre of mass goes; what contacts do after that
    node_kick = F64["nodes", 6]
    node_tree = I32[:]
    node_axes = I32[:]  # where what moves it begins below, up to -1; -1 of a loose body
    axis_number = I32[:]  # which axis of its tree, and of which velocity
    axis_v = I32[:]
    axis = F64["axes", 9]  # linear and angular velocity at one of v, along the world's axes; and where
    # --- what long trees bear: nodes, a wrench and an impedance of each, the accelerations that they get ---
    node_borne = I32[:]  # -1 of others
    borne = F64["borne", 27]
    asked = F64["borne", 6]  # p: forces that they ask for by their own motion
    borne_first = F64["borne", 6]  # without what ties do
    moved = F64["borne", 6]
    right = LANES["columns"]
    island_left = F64["islands"]  # by how much conjugate gradients still changed velocities in the end [m/s]
    ties = INT  # of an island
    tied_island = INT
    tie_patch = I32["patches"]
    tie_w = F64["ties"]  # at both sides: wrenches w, and of conjugate gradients r, q, C p + q; accelerations p, u
    tie_r = F64["ties"]
    tie_q = F64["ties"]
    tie_s = F64["ties"]
    tie_p = F64["ties"]
    tie_u = F64["ties"]
    tie_free = F64["ties"]  # u of w = 0
    # --- shapes ---
    shape_node = I32[:]
    shape_base = I32[:]  # the body it is on, if such trees hang on that; else -1
    shape_order = I32[:]  # of two shapes the later one comes first in a pair
    shape_kind = I32[:]
    shape_local = F64[:, 12]
    shape_centre = F64[:, 3]  # in its node
    shape_runs = F64[:, 6]  # how its surface runs, in its node
    shape_extent = F64[:]  # about its centre
    shape_round = I32[:]  # whether it is a ball, on a tree that is never alone
    shape_half = F64[:, 3]  # half the sides of the box about it, along its own axes
    shape_endless = I32[:]  # whether it is a ground: 1 for a half space, 2 for others
    shape_margin = F64[:]
    shape_room = F64[:]  # the largest margin that it has towards any other
    shape_group = I64[:]
    shape_mask = I64[:]
    shape_family = I32[:]
    shape_stranger = I32[:]  # whether it is one of those of which no two touch
    shape_surface = I32[:]
    shape_stiffness = F64[:]  # of its surface, where two surfaces have none of their own
    shape_weight = F64[:, 2]  # the inverse mass that is felt there, and whether it is a long chain's
    shape_sizes = F64[:]
    shape_first = I32[:]  # its first size
    shape_corner = I32[:]  # of a hull: where its vertices begin below, and how many rows they take; 0 of others
    shape_corners = I32[:]
    corners = LANES[:, 3]  # vertices of hulls, eight in a row, the last ones again and again
    shape_flat = I32[:]  # 2 of a hull, 1 of a box, 0 of others
    shape_lane = I32[:]  # whether its tree may be alone
    outside = I32[:]  # the shapes of one world of which it may not
    outsiders = INT
    shape_slack = F64[:]  # how far it may move before pairs are listed again [m]
    shape_pose = F64["shapes", 12]
    ball = F64["shapes", 3]
    pace = F64["shapes"]  # how far a shape moves in a step
    further = F64["shapes"]  # how far beyond a shape contact is looked for in this step
    reach = F64["shapes"]  # of the ball with that; -1 for what has no end
    ground = I32[:]  # the shapes without an end
    surface_count = INT
    surfaces = F64[:, 6]  # of each two surfaces, then of `own`; -1 for what is not given
    own = I64[:]  # pairs of shapes of one world whose contact has a surface of its own
    own_margin = F64[:]
    own_count = INT
    apart = I64[
        :
    ]  # pairs of shapes of one world that never touch, and that do although they are of one family or strangers
    apart_count = INT
    together = I64[:]
    together_count = INT
    # --- grids ---
    level = I32["world_shapes"]
    used = I32["levels"]
    width = F64["levels"]
    cell = I64["world_shapes", 3]
    head = I32["heads"]
    following = I32["world_shapes"]
    hash_mask = INT
    near = I32["near", 2]
    near_most = INT
    keys = I64["near"]
    spare = I64["near"]
    key_at = I32["near"]  # which one of the robots' close pairs they are
    spare_at = I32["near"]
    key_reach = F64["near"]  # how near they must be to be looked at
    spare_reach = F64["near"]
    # --- lists of pairs: each world's own, with room for so many ---
    listed = I64["near"]
    listed_most = INT
    world_near = I32["worlds"]  # whether a tree of it is looked at in this step
    listed_joined = INT  # whether those of trees alone are listed
    world_moved = I32["worlds"]
    listed_count = I32["worlds"]  # -1 of a world without a list
    listed_ball = F64["shapes", 3]  # as they were then
    listed_radius = F64["shapes"]  # with room to move
    kind_first = I32["pair_kinds"]
    pair_kinds = INT
    # --- pairs of shapes, of one kind at a time ---
    pair_kind = I32[:, 2]  # of two kinds of shapes that move, and with the second one fixed; -1 for none
    pair_program = I64["pair_kinds"]
    apart_program = I64["pair_kinds"]
    pair_points = I32[:]  # candidates of a pair
    pair_sizes = I32[:, 2]
    pair_fixed = I32[:]
    pair_a = I32["near"]
    pair_b = I32["near"]
    pair_reach = F64["near", 1]  # how near they must be to be looked at
    pair_gap = F64["near", 1]
    pair_way = F64["near", 3]  # along which they are so far apart, in the axes of the first
    size_a = F64["sizes_a"]
    size_b = F64["sizes_b"]
    w = F64["near", 4]  # and dt
    gap = F64["gaps"]
    point = F64["points"]
    normal = F64["points"]
    turning = F64["points"]
    # --- contacts as they are found, and patches of them: those of two shapes ---
    patches = INT
    patch_most = INT
    found_shapes = I32["patches", 2]
    found_first = I32["patches"]
    found_count = I32["patches"]
    contacts = INT
    contact_most = INT
    found_key = I64["contacts"]
    found_feature = I32["contacts"]
    found_gap = F64["contacts"]
    found_point = F64["contacts", 3]
    found_normal = F64["contacts", 3]
    found_turning = F64["contacts", 3]
    found_impulse = F64["contacts", 3]  # along the axes of the world, on the first body
    found_before = F64["contacts", 3]  # under XPBD those of positions, and 0 else
    # --- those of the step before, with their impulses: part of the state ---
    kept = INT
    kept_key = I64["contacts"]
    kept_feature = I32["contacts"]
    kept_impulse = F64["contacts", 3]
    # --- islands ---
    parent = I32["islands"]
    island_of = I32["islands"]  # of each tree; -1 of one that nothing acts on
    islands = INT
    island_trees = I32["islands"]  # where its trees begin among `members`
    members = I32["islands"]
    member_node = I32["islands"]  # of a member: the row of its node, its first block among vectors
    member_first = I32["islands"]
    member_of = I32["islands"]  # the number of a tree within its island
    island_patches = I32["islands"]  # where its patches begin in `patch_order`
    patch_order = I32["patches"]
    island_vector = I32["islands"]  # where its vectors, columns, blocks and triples begin
    island_block = I32["islands"]
    island_triple = I32["islands"]
    island_going = I32["islands"]
    island_count = I32["islands"]  # iterations, or sweeps
    island_swept = I32["islands"]
    island_long = I32["islands"]  # whether any of its trees has no matrix (`long_trees`)
    island_chain = I32["islands"]  # whether any takes Coriolis forces of the step's middle (`whips`)
    island_residual = F64["islands"]
    tree_column = I32["islands"]
    # --- patterns of islands, and what they were made of last: as long as that is the same, they are ---
    laid_patches = INT  # -1: of nothing
    laid_shapes = I32["patches", 2]
    laid_island = I32["islands"]
    laid_swept = I32["islands"]
    neighbours = I32["world_trees", CROWDED]
    degree = I32["world_trees"]
    order = I32["world_trees"]
    place = I32["world_trees"]
    sizes = I32["world_trees"]
    columns = I32["world_trees"]
    later = I32["degrees"]
    list_head = I32["degrees"]
    list_after = I32["world_trees"]
    list_before = I32["world_trees"]
    seen = I32["world_trees"]
    starts = I32["columns"]
    ends = I32["columns"]
    rows = I32["blocks"]
    triples = I32["triples", 3]
    block_most = INT
    triple_most = INT
    L = LANES["blocks", 6]
    x = LANES["columns"]
    # --- patches, island by island ---
    patch_first = I32["patches"]  # its first contact; behind the last patch how many there are
    patch_trees = I32["patches", 2]
    patch_sides = I32["patches", 2]  # the first block of each side's G; -1 for the identity, -2 for none
    G = LANES["sides", 6]
    GT = LANES["sides", 6]
    side_most = INT
    Z = LANES["one", 6]
    T = LANES["one", 6]
    wrench = LANES["both"]
    # --- contacts, island by island: of what, and what programs find of each ---
    found_of = I32["contacts"]
    shape_a = I32["contacts"]
    shape_b = I32["contacts"]
    node_a = I32["contacts"]
    node_b = I32["contacts"]
    surface_of = I32["contacts"]
    law = F64["contacts", 13]
    ahead = F64["twists"]
    test = F64["impulses"]
    answer = F64["contacts", 27]
    row_change = F64["contacts", 6]
    speeds = F64["contacts", 3]  # of two shapes towards one another: at the middle of each, and of turning
    after = F64["impulses"]
    impulse = F64["impulses"]
    error = F64["contacts"]
    begin = INT  # programs
    leave = INT  # under XPBD; 0 else
    is_leaving = INT  # whether contacts are solved for the second time, for velocities
    response = INT
    reaction = INT
    approach = INT
    # --- sweeps; bodies behind the last are the world, for each island: what is no number stays in one ---
    island_within = F64["islands"]  # by how much velocities may be wrong [m/s]
    island_worst = F64["islands"]  # the squares of the errors of this sweep
    island_momentum = F64["islands"]
    body = F64["bodies", 10]
    body_change = LANES["bodies"]
    body_before = LANES["bodies"]  # after the sweep before
    swept_before = F64["contacts", 3]  # impulses after the sweep before; those that the last one began with
    swept_from = F64["contacts", 3]
    colours_of = I64["trees"]  # of a body's contacts so far: a bit for each
    colour = I32["contacts"]  # of a contact
    place_of = I32["contacts"]  # of a contact in the order of colours
    colours = INT
    colour_first = I32["colours"]  # where its contacts begin: each at a multiple of `WIDTH`
    colour_last = I32["colours"]  # behind its last contact
    met_island = I32["contacts"]  # of a place in the order of colours: its island, contact, place as found, node, trees
    met_contact = I32["contacts"]
    met_found = I32["contacts"]
    met_node = I32["contacts"]
    met_a = I32["contacts"]
    met_b = I32["contacts"]
    met = F64["contacts", 35]  # in lanes
    met_impulse = F64["met_impulses"]  # of four: with the square of its error in this sweep [m^2/s^2]; in lanes
    lanes = INT  # in so many
    begin_body = INT  # programs
    accelerate_body = INT
    meet = INT
    visit = INT
    # --- why a step was not made: the list that is too short, the kind or part that is not compiled yet, who woke ---
    parts = I64["parts"]  # kernels that are called by their addresses (`parts`)
    lacking = INT
    wanted = INT


# What may be lacking.
NEAR, PATCHES, CONTACTS, BLOCKS, TRIPLES, SIDES, PROGRAM, ORDER, TREES, APART, PART, WOKEN = range(1, 13)
